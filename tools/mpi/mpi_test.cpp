// SPDX-License-Identifier: GPL-2.0
/**
 * @file mpi_test.cpp
 * @brief Collectives and messages between all ranks of a world; each rank checks the data that it receives.
 *
 * mpirun ... mpi-test [CASE...]. Rank 0 prints a line for each case; a rank that finds an error prints it and aborts the world.
 */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>

#include "../common/testcase.hpp"

namespace {

using Octets = std::vector<std::uint8_t>;

int rank, ranks;

/** The contribution of rank @p r at @p i; small enough for a sum over any world. */
std::int64_t value(int r, std::size_t i) {
  return static_cast<std::int64_t>((i * 2654435761u + static_cast<unsigned>(r) * 40503u) % 1000003) - 500000;
}

/** The message from @p from to @p to. */
Octets message(int from, int to, std::size_t length) {
  Octets octets(length);

  test::fill(octets, static_cast<std::uint64_t>(from) * 1000 + static_cast<std::uint64_t>(to));
  return octets;
}

/** Fails at the first element of @p got that differs from @p want. */
template <class T> void expectSame(const std::vector<T>& got, const std::vector<T>& want, const char* what) {
  const auto differ = std::mismatch(want.begin(), want.end(), got.begin(), got.end());

  if (differ.first != want.end())
    throw test::Failure(test::format("%s of %zu: wrong from element %td on", what, want.size(), differ.first - want.begin()));
}

/** Sum and maximum over all ranks: of one element, of a few in one message, of 8 MB in many. */
void allReduce() {
  for (const std::size_t count : {1u, 3u, 64u, 1000u, 4097u, 100000u, 1000000u}) {
    std::vector<std::int64_t> mine(count), sum(count), most(count), total(count), greatest(count, INT64_MIN);

    for (std::size_t i = 0; i < count; i++)
      mine[i] = value(rank, i);
    for (int r = 0; r < ranks; r++)
      for (std::size_t i = 0; i < count; i++) {
        total[i] += value(r, i);
        greatest[i] = std::max(greatest[i], value(r, i));
      }
    MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(count), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine.data(), most.data(), static_cast<int>(count), MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    expectSame(sum, total, "sum");
    expectSame(most, greatest, "maximum");
  }
}

/** Each rank sends every other one a block. */
void allToAll() {
  constexpr std::size_t block = 65536 + 1;
  Octets out, in(block * static_cast<std::size_t>(ranks)), want;

  for (int r = 0; r < ranks; r++) {
    const Octets there = message(rank, r, block), here = message(r, rank, block);

    out.insert(out.end(), there.begin(), there.end());
    want.insert(want.end(), here.begin(), here.end());
  }
  MPI_Alltoall(out.data(), block, MPI_UINT8_T, in.data(), block, MPI_UINT8_T, MPI_COMM_WORLD);
  expectSame(in, want, "all to all");
}

/** From each rank to all, in sizes around the thresholds at which libraries switch their protocols. */
void broadcast() {
  for (int root = 0; root < ranks; root++)
    for (const std::size_t length : {1u, 4095u, 16384u, 65537u, 4u << 20}) {
      const Octets want = message(root, 0, length);
      Octets octets = rank == root ? want : Octets(length);

      MPI_Bcast(octets.data(), static_cast<int>(length), MPI_UINT8_T, root, MPI_COMM_WORLD);
      expectSame(octets, want, "broadcast");
    }
}

/** A hundred messages each way at once, received in the reverse order by their tags. */
void outstanding() {
  constexpr int count = 100;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  std::vector<Octets> out, in;
  std::vector<MPI_Request> requests(2 * count);

  for (int i = 0; i < count; i++) {
    const auto length = static_cast<std::size_t>(i) * 331 + 1;

    out.push_back(message(rank, i, length));
    in.emplace_back(length);
  }
  for (int i = 0; i < count; i++) {
    const int last = count - 1 - i;

    MPI_Isend(out[i].data(), static_cast<int>(out[i].size()), MPI_UINT8_T, next, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Irecv(in[last].data(), static_cast<int>(in[last].size()), MPI_UINT8_T, previous, last, MPI_COMM_WORLD,
              &requests[count + i]);
  }
  MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; i++)
    expectSame(in[i], message(previous, i, in[i].size()), "message");
}

/** Messages until a rank is killed. Runs only when it is named. */
void endless() {
  for (bool first = true;; first = false) {
    outstanding();
    MPI_Barrier(MPI_COMM_WORLD);
    if (first && rank == 0) {
      std::puts("running");
      std::fflush(stdout);
    }
  }
}

const struct {
  const char* name;
  void (*run)();
} cases[] = {
    {"all-reduce", allReduce},    {"all-to-all", allToAll}, {"broadcast", broadcast},
    {"outstanding", outstanding}, {"endless", endless},
};

/** Runs the cases named in @p wanted, or all. */
int run(std::span<const std::string> wanted) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const auto& c : cases) {
    if (!test::selected(c.name, wanted) || (wanted.empty() && c.run == endless))
      continue;
    c.run();
    MPI_Barrier(MPI_COMM_WORLD); /* all ranks must have passed before rank 0 prints it */
    if (rank == 0)
      std::printf("ok - %s, %d ranks\n", c.name, ranks);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = test::guarded("mpi-test", [&] { return run(std::vector<std::string>(argv + 1, argv + argc)); });
  if (status)
    MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
}
