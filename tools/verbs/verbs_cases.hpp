// SPDX-License-Identifier: GPL-2.0
/** @file verbs_cases.hpp @brief The tables of verbs cases and what they share. */
#pragma once

#include <random>
#include <unistd.h>

#include "pair.hpp"

namespace rdma {

/** Octets of a page of memory: 4096, or more on some machines. */
inline const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/** Parameters of every case. */
struct Context {
  Place place;
  std::uint64_t seed = 1;
  unsigned count = 0; /**< of --count, 0: the case's own choice */
};

/** A counter of a device, from now on. */
class Counter {
public:
  Counter(ibv_context* context, std::string name) : context_(context), name_(std::move(name)), before_(read()) {}

  /** Waits until it has grown by @p more. */
  void reach(unsigned more) const;

private:
  /** The kernel reads it anew after 10 ms only. */
  std::uint64_t read() const;

  ibv_context* context_;
  std::string name_;
  std::uint64_t before_;
};

using VerbsCase = test::Case<Context>;

std::span<const VerbsCase> dataCases();
std::span<const VerbsCase> queueCases();
std::span<const VerbsCase> errorCases();
std::span<const VerbsCase> connectionCases();
std::span<const VerbsCase> handCases();
std::span<const VerbsCase> hostileCases();
std::span<const VerbsCase> lateCases();
std::span<const VerbsCase> memoryCases();

/** Fails unless the completion has this status (and, when it succeeded, this opcode). */
void expectWc(const ibv_wc& wc, ibv_wc_status status, ibv_wc_opcode opcode, const std::string& what);

/** Fails, and names the place, unless both hold the same. */
void expectSame(std::span<const std::uint8_t> got, std::span<const std::uint8_t> want, const std::string& what);

/** Posts a receive of one element to a shared receive queue. */
void postShared(ibv_srq* srq, std::uint64_t id, ibv_sge sge);

} // namespace rdma
