// SPDX-License-Identifier: GPL-2.0
/**
 * @file bpf.hpp
 * @brief BPF programs, and a map of sockets (sockhash) into which a program puts every TCP connection of the machine.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/bpf.h>
#include <span>
#include <sys/syscall.h>

#include "fd.hpp"
#include "testcase.hpp"

namespace test {

/** The system call. Throws test::Skip on a kernel that does not have it, such as those that look for faults. */
inline int bpf(bpf_cmd command, bpf_attr& attributes) {
  const long result = syscall(SYS_bpf, command, &attributes, sizeof(attributes));

  if (result < 0 && errno == ENOSYS)
    throw Skip("no BPF in this kernel");
  return static_cast<int>(result);
}

/** Loads a program; throws std::system_error. */
inline Fd bpfProgram(bpf_prog_type type, std::span<const bpf_insn> code) {
  static constexpr char license[] = "GPL";
  bpf_attr a{};

  a.prog_type = type;
  a.insns = reinterpret_cast<std::uintptr_t>(code.data());
  a.insn_cnt = static_cast<std::uint32_t>(code.size());
  a.license = reinterpret_cast<std::uintptr_t>(license);
  Fd fd(bpf(BPF_PROG_LOAD, a));
  if (!fd)
    throwErrno("BPF_PROG_LOAD");
  return fd;
}

/** A program that returns 1: to a sockmap this means to pass the octets on. */
inline Fd bpfPass(bpf_prog_type type) {
  static constexpr bpf_insn code[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };

  return bpfProgram(type, code);
}

/** A map of sockets. Those of a sockhash with a program pass their octets through it. */
class Sockhash {
public:
  /** Kinds of programs of a map: none, for messages that are sent, for octets that are received. */
  enum class Verdict { None, Message, Stream };
  static constexpr Verdict verdicts[] = {Verdict::None, Verdict::Message, Verdict::Stream};

  explicit Sockhash(Verdict verdict) {
    bpf_attr a{};

    a.map_type = BPF_MAP_TYPE_SOCKHASH;
    a.key_size = sizeof(Key);
    a.value_size = sizeof(std::uint32_t);
    a.max_entries = 4096;
    map_ = Fd(bpf(BPF_MAP_CREATE, a));
    if (!map_)
      throwErrno("BPF_MAP_CREATE");
    if (verdict == Verdict::Message)
      attach(map_.get(), bpfPass(BPF_PROG_TYPE_SK_MSG), BPF_SK_MSG_VERDICT);
    if (verdict == Verdict::Stream)
      attach(map_.get(), bpfPass(BPF_PROG_TYPE_SK_SKB), BPF_SK_SKB_STREAM_VERDICT);
  }

  /** Puts a socket into the map, or removes it; returns 0 or a negative errno. */
  int put(int fd) { return element(BPF_MAP_UPDATE_ELEM, fd); }
  int remove() { return element(BPF_MAP_DELETE_ELEM, 0); }

  /** Whether the map holds any socket. */
  bool holdsAny() const {
    Key next;
    bpf_attr a{};

    a.map_fd = static_cast<std::uint32_t>(map_.get());
    a.next_key = reinterpret_cast<std::uintptr_t>(&next);
    return !bpf(BPF_MAP_GET_NEXT_KEY, a);
  }

protected:
  using Key = std::array<std::uint32_t, 2>; /* the ports of a connection */

  static void attach(int target, const Fd& program, bpf_attach_type type) {
    bpf_attr a{};

    a.target_fd = static_cast<std::uint32_t>(target);
    a.attach_bpf_fd = static_cast<std::uint32_t>(program.get());
    a.attach_type = type;
    if (bpf(BPF_PROG_ATTACH, a))
      throwErrno("BPF_PROG_ATTACH");
  }

  int map() const { return map_.get(); }

private:
  int element(bpf_cmd command, int fd) {
    const auto value = static_cast<std::uint32_t>(fd);
    const Key key{};
    bpf_attr a{};

    a.map_fd = static_cast<std::uint32_t>(map_.get());
    a.key = reinterpret_cast<std::uintptr_t>(&key);
    if (command == BPF_MAP_UPDATE_ELEM)
      a.value = reinterpret_cast<std::uintptr_t>(&value);
    return bpf(command, a) ? -errno : 0;
  }

  Fd map_;
};

/** During its lifetime every TCP connection of the machine gets into the map when it is established. */
class SockhashOfAll : public Sockhash {
public:
  explicit SockhashOfAll(Verdict verdict) : Sockhash(verdict), cgroup_(open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY)) {
    const bpf_insn code[] = {
        {BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0},
        {BPF_LDX | BPF_MEM | BPF_W, 2, 6, offsetof(bpf_sock_ops, op), 0},
        {BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB},
        {BPF_JMP | BPF_JNE | BPF_K, 2, 0, 11, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB},
        {BPF_LDX | BPF_MEM | BPF_W, 2, 6, offsetof(bpf_sock_ops, remote_port), 0},
        {BPF_STX | BPF_MEM | BPF_W, 10, 2, -8, 0},
        {BPF_LDX | BPF_MEM | BPF_W, 2, 6, offsetof(bpf_sock_ops, local_port), 0},
        {BPF_STX | BPF_MEM | BPF_W, 10, 2, -4, 0},
        {BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0},
        {BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_MAP_FD, 0, map()},
        {0, 0, 0, 0, 0},
        {BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0},
        {BPF_ALU64 | BPF_ADD | BPF_K, 3, 0, 0, -8},
        {BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, BPF_ANY},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_sock_hash_update},
        {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };

    if (!cgroup_)
      throw Skip("no cgroups");
    program_ = bpfProgram(BPF_PROG_TYPE_SOCK_OPS, code);
    attach(cgroup_.get(), program_, BPF_CGROUP_SOCK_OPS);
  }
  ~SockhashOfAll() {
    bpf_attr a{};

    a.target_fd = static_cast<std::uint32_t>(cgroup_.get());
    a.attach_bpf_fd = static_cast<std::uint32_t>(program_.get());
    a.attach_type = BPF_CGROUP_SOCK_OPS;
    bpf(BPF_PROG_DETACH, a);
  }
  SockhashOfAll(const SockhashOfAll&) = delete;
  SockhashOfAll& operator=(const SockhashOfAll&) = delete;

private:
  Fd cgroup_, program_;
};

} // namespace test
