// SPDX-License-Identifier: GPL-2.0
/** @file operations_links.cpp @brief Modules and links. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>

#include "../common/fd.hpp"
#include "netlink.hpp"
#include "operations.hpp"

namespace faults {

using test::Deadline;
using test::Failure;
using test::Fd;
using test::throwErrno;

bool moduleLoaded(const char* name) {
  return access((std::string("/sys/module/") + name).c_str(), F_OK) == 0;
}

static Fd openModule(const Context& c, const char* name) {
  const std::string path = c.modules + "/" + name + ".ko";
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));

  if (!fd)
    throwErrno(path);
  return fd;
}

int loadModule(const Context& c, const char* name) {
  return syscall(SYS_finit_module, openModule(c, name).get(), "", 0) ? errno : 0;
}

/* Workers and RCU callbacks complete the removal of a link and release the references of sockets. */
void unloadModule(const char* name) {
  const Deadline deadline(test::milliseconds(10000));

  while (syscall(SYS_delete_module, name, O_NONBLOCK)) {
    if (errno != EAGAIN && errno != EBUSY)
      throwErrno(std::string("unload ") + name);
    if (deadline.passed())
      throw Failure(std::string(name) + " does not unload");
    std::this_thread::sleep_for(test::milliseconds(10));
  }
}

static Attempt load(const Context& c, const char* name) {
  return {.call = [c, name] { return loadModule(c, name); }, .succeeded = [name] { unloadModule(name); }};
}

static Attempt loadMpa(const Context& c) {
  return load(c, "mpa");
}

static Attempt loadIwmpa(const Context& c) {
  if (!moduleLoaded("mpa") && loadModule(c, "mpa"))
    throwErrno("mpa.ko");
  return load(c, "iwmpa");
}

std::span<const Operation> moduleOperations() {
  static const Operation operations[] = {
      {"load-mpa", "insmod mpa.ko", Scope::Init, true, loadMpa},
      {"load-iwmpa", "insmod iwmpa.ko", Scope::Init, true, loadIwmpa},
  };
  return operations;
}

static void add(RdmaNetlink& netlink, const std::string& device, const std::string& netdev) {
  if (const int error = netlink.addLink(device, "iwmpa", netdev))
    throw std::system_error(error, std::generic_category(), "rdma link add " + device);
}

static void remove(RdmaNetlink& netlink, const std::string& device) {
  if (const int error = netlink.deleteLink(netlink.indexOf(device)))
    throw std::system_error(error, std::generic_category(), "rdma link delete " + device);
}

void addDevice(const Context& c) {
  RdmaNetlink netlink;

  add(netlink, c.device, c.netdev);
}

void removeDevice(const Context& c) {
  RdmaNetlink netlink;

  remove(netlink, c.device);
}

/* A second device, so that the first can show that the modules still work. */
static const std::string second = "rd1";

static Attempt addLink(const Context& c) {
  auto netlink = std::make_shared<RdmaNetlink>();

  return {.call = [netlink, c] { return netlink->addLink(second, "iwmpa", c.netdev + "2"); },
          .succeeded = [netlink] { remove(*netlink, second); }};
}

static Attempt deleteLink(const Context& c) {
  auto netlink = std::make_shared<RdmaNetlink>();

  add(*netlink, second, c.netdev + "2");
  return {.call = [netlink, index = netlink->indexOf(second)] { return netlink->deleteLink(index); }};
}

std::span<const Operation> linkOperations() {
  static const Operation operations[] = {
      {"link-add", "rdma link add", Scope::Thread, true, addLink},
      {"link-delete", "rdma link delete", Scope::Thread, false, deleteLink},
  };
  return operations;
}

} // namespace faults
