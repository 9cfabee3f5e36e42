// SPDX-License-Identifier: GPL-2.0
/** @file operations_objects.cpp @brief Creating and destroying verbs objects. */
#include "../common/rdma.hpp"
#include "operations.hpp"

namespace faults {

using namespace rdma;

namespace {

using DeviceHandle = std::unique_ptr<ibv_context, Closer<ibv_close_device>>;

ibv_context* openByName(const std::string& name) {
  const std::unique_ptr<ibv_device*, Closer<ibv_free_device_list>> list(ibv_get_device_list(nullptr));

  for (ibv_device** d = list.get(); d && *d; d++)
    if (name == ibv_get_device_name(*d))
      return ibv_open_device(*d);
  throw test::Failure("no device " + name);
}

/** A device opened for one attempt, and the objects that most others need. Members are destroyed in reverse order. */
struct Workshop {
  explicit Workshop(const Context& c)
      : device(check(openByName(c.device), "ibv_open_device")), pd(check(ibv_alloc_pd(device.get()), "ibv_alloc_pd")),
        cq(check(ibv_create_cq(device.get(), 64, nullptr, nullptr, 0), "ibv_create_cq")) {}

  DeviceHandle device;
  Pd pd;
  CqHandle cq;
  std::unique_ptr<Memory> memory;
  Srq srq;
  MrHandle mr;
  QpHandle qp;
};

using Shop = std::shared_ptr<Workshop>;

/** Stores the result of a verb in @p to; returns 0, or errno when the result is a null pointer. */
template <class Handle, class T> int keep(Handle& to, T* made) {
  if (!made)
    return errno;
  to.reset(made);
  return 0;
}

ibv_srq* createSrq(const Shop& s) {
  ibv_srq_init_attr attr{};

  attr.attr = {256, 6, 0};
  return ibv_create_srq(s->pd.get(), &attr);
}

ibv_qp* createQp(const Shop& s, unsigned depth) {
  ibv_qp_init_attr attr{};

  attr.send_cq = attr.recv_cq = s->cq.get();
  attr.srq = s->srq.get();
  attr.cap = {depth, depth, 6, 6, 64};
  attr.qp_type = IBV_QPT_RC;
  return ibv_create_qp(s->pd.get(), &attr);
}

/** Memory with all its pages present, so that their allocation is not part of the registration. */
void makeMemory(const Shop& s, std::size_t length) {
  s->memory = std::make_unique<Memory>(length);
  test::fill(s->memory->span(), 1);
}

ibv_mr* registerMemory(const Shop& s) {
  return ibv_reg_mr(s->pd.get(), s->memory->data(), s->memory->size(), remoteAll);
}

/* --- create --- */

Attempt openDevice(const Context& c) {
  auto device = std::make_shared<DeviceHandle>();

  return {.call = [device, name = c.device] { return keep(*device, openByName(name)); }};
}

Attempt allocPd(const Context& c) {
  auto device = std::make_shared<DeviceHandle>(check(openByName(c.device), "ibv_open_device"));
  auto pd = std::make_shared<Pd>();

  return {.call = [device, pd] { return keep(*pd, ibv_alloc_pd(device->get())); }};
}

template <int Entries> Attempt createCqOf(const Context& c) {
  auto s = std::make_shared<Workshop>(c);
  auto cq = std::make_shared<CqHandle>();

  return {.call = [s, cq] { return keep(*cq, ibv_create_cq(s->device.get(), Entries, nullptr, nullptr, 0)); }};
}

Attempt createSrqIn(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  return {.call = [s] { return keep(s->srq, createSrq(s)); }};
}

template <unsigned Depth> Attempt createQpOf(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  return {.call = [s] { return keep(s->qp, createQp(s, Depth)); }};
}

Attempt createQpWithSrq(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  checkVerbs(keep(s->srq, createSrq(s)), "ibv_create_srq");
  return {.call = [s] { return keep(s->qp, createQp(s, 64)); }};
}

template <std::size_t Length> Attempt registerOf(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  makeMemory(s, Length);
  return {.call = [s] { return keep(s->mr, registerMemory(s)); }};
}

/* --- destroy --- */

/** Destroys the object in @p handle by @p function, and releases the handle. */
template <class Handle> int giveUp(Handle& handle, int (*function)(typename Handle::pointer)) {
  return function(handle.release());
}

Attempt deallocPd(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  return {.call = [s] { return giveUp(s->pd, ibv_dealloc_pd); }};
}

Attempt destroyCq(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  return {.call = [s] { return giveUp(s->cq, ibv_destroy_cq); }};
}

Attempt destroySrq(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  checkVerbs(keep(s->srq, createSrq(s)), "ibv_create_srq");
  return {.call = [s] { return giveUp(s->srq, ibv_destroy_srq); }};
}

Attempt destroyQp(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  checkVerbs(keep(s->qp, createQp(s, 64)), "ibv_create_qp");
  return {.call = [s] { return giveUp(s->qp, ibv_destroy_qp); }};
}

Attempt deregister(const Context& c) {
  auto s = std::make_shared<Workshop>(c);

  makeMemory(s, 1 << 20);
  checkVerbs(keep(s->mr, registerMemory(s)), "ibv_reg_mr");
  return {.call = [s] { return giveUp(s->mr, ibv_dereg_mr); }};
}

} // namespace

std::span<const Operation> objectOperations() {
  static const Operation operations[] = {
      {"open-device", "ibv_open_device", Scope::Thread, true, openDevice},
      {"alloc-pd", "ibv_alloc_pd", Scope::Thread, true, allocPd},
      {"create-cq", "ibv_create_cq and its ring", Scope::Thread, true, createCqOf<64>},
      {"create-cq-large", "of 16384 entries", Scope::Thread, true, createCqOf<16384>},
      {"create-srq", "ibv_create_srq and its ring", Scope::Thread, true, createSrqIn},
      {"create-qp", "ibv_create_qp and its rings", Scope::Thread, true, createQpOf<64>},
      {"create-qp-large", "of 4096 work requests", Scope::Thread, true, createQpOf<4096>},
      {"create-qp-srq", "with an SRQ", Scope::Thread, true, createQpWithSrq},
      {"reg-mr", "ibv_reg_mr of a page", Scope::Thread, true, registerOf<4096>},
      {"reg-mr-large", "of 16 MiB", Scope::Thread, true, registerOf<(16 << 20)>},
      {"dealloc-pd", "ibv_dealloc_pd", Scope::Thread, false, deallocPd},
      {"destroy-cq", "ibv_destroy_cq", Scope::Thread, false, destroyCq},
      {"destroy-srq", "ibv_destroy_srq", Scope::Thread, false, destroySrq},
      {"destroy-qp", "ibv_destroy_qp", Scope::Thread, false, destroyQp},
      {"dereg-mr", "ibv_dereg_mr", Scope::Thread, false, deregister},
  };
  return operations;
}

} // namespace faults
