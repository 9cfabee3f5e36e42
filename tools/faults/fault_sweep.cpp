// SPDX-License-Identifier: GPL-2.0
/**
 * @file fault_sweep.cpp
 * @brief fault-sweep: fails every allocation under the modules once, in every operation; prints a line for each operation.
 */
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "../common/options.hpp"
#include "health.hpp"
#include "injector.hpp"
#include "kernel_log.hpp"
#include "operations.hpp"

namespace faults {

using test::Failure;
using test::format;

namespace {

/** The sweep ends after this many consecutive runs in which no fault was injected. */
constexpr unsigned missesToEnd = 3;
/** An operation with this many failures is abandoned. */
constexpr std::size_t mostWrong = 10;
/** A sweep with this many faults is in an endless loop. */
constexpr unsigned mostFaults = 5000;

struct Arguments {
  Context context;
  std::string log, sites, known;
  std::vector<std::string> patterns;
  bool twice = false;
  unsigned from = 1, upTo = mostFaults;
};

/** A defect of the core kernel: in this operation, effects of a failed allocation in this function are not the modules' fault. */
struct Known {
  std::string operation, function, why;
};

std::vector<Known> readKnown(const std::string& file) {
  std::vector<Known> all;
  std::ifstream in(file);

  if (!in && !file.empty())
    test::throwErrno(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Known k;

    if (!line.empty() && line[0] != '#' && words >> k.operation >> k.function && std::getline(words >> std::ws, k.why))
      all.push_back(k);
  }
  return all;
}

/** The results of one operation's sweep. */
struct Tally {
  unsigned hits = 0, failed = 0;
  std::set<std::string> sites;
  std::map<std::string, unsigned> how; /**< names of errno values, or how a connection ended */
  std::vector<std::string> wrong, known;
};

class Sweep {
public:
  explicit Sweep(const Arguments& a) : a_(a), log_(a.log), known_(readKnown(a.known)) {
    if (!a.sites.empty() && !(sites_ = std::fopen(a.sites.c_str(), "w")))
      test::throwErrno(a.sites);
  }
  ~Sweep() {
    if (sites_)
      std::fclose(sites_);
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  /** Sweeps all selected operations, each once for every kind of fault that its scope has. */
  int run();

private:
  void table(std::span<const Operation> operations);
  void operation(const Operation& o, std::optional<Kind> kind);
  bool one(const Operation& o, std::optional<Kind> kind, unsigned n, Tally& t);
  void after(const Operation& o, const Resources& before, Tally& t);
  void wrong(const Operation& o, Tally& t, const std::vector<Site>& sites, const std::string& text);
  void note(const Operation& o, unsigned n, const std::vector<Site>& sites, const std::string& outcome);
  void print(const Operation& o, std::optional<Kind> kind, const Tally& t);

  const Arguments& a_;
  KernelLog log_;
  std::vector<Known> known_;
  Injector injector_;
  std::FILE* sites_ = nullptr;
  unsigned rows_ = 0, hits_ = 0, bad_ = 0, excused_ = 0;
};

std::string errnoName(int error) {
  const char* name = strerrorname_np(error);

  return name ? name : std::to_string(error);
}

/** True for errno values that report missing memory, or (for a fault in copying) a bad address. */
bool fits(int error) {
  return error == ENOMEM || error == ENOBUFS || error == EAGAIN || error == EFAULT;
}

/** Records a failure at @p sites, as known when it is a known defect of the core kernel in this operation. */
void Sweep::wrong(const Operation& o, Tally& t, const std::vector<Site>& sites, const std::string& text) {
  for (const auto& k : known_)
    for (const auto& site : sites)
      if ((k.operation == "*" || k.operation == o.name) && site.has(k.function)) {
        t.known.push_back(text + ": " + k.why);
        return;
      }
  std::string at; /* for one fault and its followers; a whole sweep has too many */

  for (const auto& site : sites)
    if (sites.size() < 8 && !site.stack.empty())
      at += (at.empty() ? "" : " then ") + site.place();
  t.wrong.push_back((at.empty() ? "" : at + ": ") + text);
  std::printf("     wrong: %s: %s\n", o.name, t.wrong.back().c_str());
  std::fflush(stdout);
}

void Sweep::note(const Operation& o, unsigned n, const std::vector<Site>& sites, const std::string& outcome) {
  if (!sites_)
    return;
  std::fprintf(sites_, "%s\t%u\t%s\t", o.name, n, outcome.c_str());
  for (const auto& site : sites) {
    std::fprintf(sites_, "%s\t", site.place().c_str());
    for (const auto& frame : site.stack)
      std::fprintf(sites_, "%s ", frame.c_str());
  }
  std::fprintf(sites_, "\n");
  std::fflush(sites_);
}

/** Injects the @p n-th fault into the operation. False: the operation has fewer. */
bool Sweep::one(const Operation& o, std::optional<Kind> kind, unsigned n, Tally& t) {
  std::optional<Attempt> attempt(o.prepare(a_.context));
  std::string outcome, broken;
  int error = 0;

  log_.take();
  if (kind)
    injector_.armAll(*kind, n);
  else
    injector_.armThread(n, a_.twice);
  try {
    error = attempt->call();
    outcome = error ? errnoName(error) : "ok";
  } catch (const Ended& e) {
    outcome = e.what();
  } catch (const std::system_error& e) {
    error = e.code().value();
    outcome = errnoName(error);
    if (!fits(error))
      broken = e.what();
  } catch (const std::exception& e) {
    broken = e.what();
  }
  const bool hit = kind ? injector_.disarmAll(*kind) : injector_.disarmThread();
  auto sites = log_.take();

  if (hit && sites.empty())
    sites.emplace_back(); /* the allocation had __GFP_NOWARN */

  if (error && !fits(error) && !kind)
    broken = "fails with " + errnoName(error);
  if (outcome != "ok" && !hit && broken.empty())
    broken = "fails without a fault: " + outcome;
  if (error && !o.mayFail && broken.empty())
    broken = "fails with " + errnoName(error) + ", which no caller can handle";
  if (broken.empty()) {
    try {
      error ? attempt->failed() : attempt->succeeded();
    } catch (const Ended& e) { /* a connection in use has ended */
      outcome += std::string(", ") + e.what();
    } catch (const std::exception& e) {
      broken = std::string(error ? "after the failure: " : "after the success: ") + e.what();
    }
  }
  if (!broken.empty()) {
    wrong(o, t, sites, format("fault %u: ", n) + broken);
    outcome = "see below";
  }
  attempt.reset(); /* the kernel may complain while the attempt's objects are destroyed */
  log_.take();
  const auto faults = t.wrong.size(), known = t.known.size();
  for (const auto& line : log_.complaints())
    wrong(o, t, sites, format("fault %u: the kernel says: ", n) + line);
  log_.settle(t.known.size() > known && t.wrong.size() == faults);
  if (!hit)
    return false;
  t.hits++;
  t.failed += outcome != "ok";
  if (outcome != "ok")
    t.how[outcome]++;
  for (const auto& site : sites)
    t.sites.insert(site.place());
  note(o, n, sites, broken.empty() ? outcome : broken);
  return true;
}

/** After the last fault: checks that all resources are back and that everything works. */
void Sweep::after(const Operation& o, const Resources& before, Tally& t) {
  if (const auto more = before.waitUntilBack(); !more.empty())
    wrong(o, t, {}, "left over: " + more);
  std::map<std::string, unsigned> lost; /* by the stack that allocated it */
  for (const auto& leak : leaks())
    lost[leak]++;
  for (const auto& [stack, count] : lost)
    wrong(o, t, {Site{.stack = {}, .text = stack}}, format("leaked %u times, allocated by", count) + stack);
  if (o.scope != Scope::Init)
    transfer(a_.context);
  log_.take();
  for (const auto& line : log_.complaints())
    wrong(o, t, {}, "the kernel says: " + line);
  log_.settle(false);
}

void Sweep::print(const Operation& o, std::optional<Kind> kind, const Tally& t) {
  static const char* const names[] = {"/slab", "/pages"};
  std::string how;

  for (const auto& [text, count] : t.how)
    how += format("%s%s %u", how.empty() ? "" : ", ", text.c_str(), count);
  std::printf("%-4s %-24s %5u %7u %6zu  %s%s\n", t.wrong.empty() ? "ok" : "FAIL",
              (std::string(o.name) + (kind ? names[static_cast<int>(*kind)] : "")).c_str(), t.hits, t.failed, t.sites.size(),
              how.c_str(), t.known.empty() ? "" : "  # known");
  for (const auto& text : t.known)
    std::printf("       known: %s\n", text.c_str());
  std::fflush(stdout);
}

void Sweep::operation(const Operation& o, std::optional<Kind> kind) {
  const Resources before;
  Tally t;

  try {
    for (unsigned n = a_.from, misses = 0; misses < missesToEnd && n < a_.upTo && t.wrong.size() < mostWrong; n++)
      misses = one(o, kind, n, t) ? 0 : misses + 1;
    if (t.hits + a_.from >= mostFaults)
      wrong(o, t, {}, "there is no end");
    after(o, before, t);
  } catch (const std::exception& e) {
    wrong(o, t, {}, std::string("without a fault: ") + e.what());
  }
  print(o, kind, t);
  rows_++;
  hits_ += t.hits;
  bad_ += !t.wrong.empty();
  excused_ += t.known.size();
}

void Sweep::table(std::span<const Operation> operations) {
  for (const auto& o : operations) {
    if (!test::selected(o.name, a_.patterns))
      continue;
    if (o.scope != Scope::Anywhere) {
      operation(o, {});
    } else if (!a_.twice) {
      operation(o, Kind::Slab);
      operation(o, Kind::Pages);
    }
  }
}

int Sweep::run() {
  std::printf("%-4s %-24s %5s %7s %6s  %s\n", "", "operation", "hits", "failed", "sites", "how");
  injector_.restrictTo(Text::ofFunction("do_one_initcall"));
  if (!moduleLoaded("iwmpa")) {
    table(moduleOperations());
    for (const char* name : {"mpa", "iwmpa"})
      if (const int error = moduleLoaded(name) ? 0 : loadModule(a_.context, name))
        throw std::system_error(error, std::generic_category(), name);
  }
  injector_.restrictTo(Text::ofModules());
  addDevice(a_.context);
  transfer(a_.context); /* librdmacm opens the devices at its first use and keeps them open */
  table(linkOperations());
  table(objectOperations());
  table(connectionOperations());
  table(socketOperations());
  removeDevice(a_.context);
  for (const char* name : {"iwmpa", "mpa"})
    unloadModule(name);
  if (!rows_)
    throw std::invalid_argument("no operation matches; see the list");
  std::printf("%u operations, %u faults%s: %u operations wrong, %u faults of the core kernel's own\n", rows_, hits_,
              a_.twice ? ", each with those that follow it" : "", bad_, excused_);
  return bad_ ? 1 : 0;
}

int list() {
  for (const auto& operations :
       {moduleOperations(), linkOperations(), objectOperations(), connectionOperations(), socketOperations()})
    for (const auto& o : operations)
      std::printf("%-20s %s\n", o.name, o.what);
  return 0;
}

std::optional<int> parse(int argc, char** argv, Arguments& a) {
  return test::Options(R"(usage: fault-sweep list
       fault-sweep run [OPERATION...] --modules DIR [OPTIONS]

Fails every allocation by mpa.ko and iwmpa.ko, or on their behalf, once: the first, the second, and so on until there is no
further one. OPERATION is a name from `list`, or a prefix and *. The netdevs must exist and have addresses; this program loads
the modules and makes the links.

)",
                       {{"modules", "DIR", "folder of mpa.ko and iwmpa.ko", test::text(a.context.modules)},
                        {"netdev", "N", "netdev of the link; N2 is for a second link (wire)", test::text(a.context.netdev)},
                        {"addr", "A", "its address (10.8.0.1)", test::text(a.context.address)},
                        {"twice", nullptr, "also fail the allocations right after each fault; not in workers", test::flag(a.twice)},
                        {"from", "N", "begin with the N-th", test::number(a.from, 1)},
                        {"up-to", "N", "end before the N-th", test::number(a.upTo, 1)},
                        {"known", "FILE", "known defects of the core kernel: operation, function, reason", test::text(a.known)},
                        {"log", "FILE", "file for the kernel's log without the reports of injected faults", test::text(a.log)},
                        {"sites", "FILE", "file for each fault: operation, number, outcome, stack", test::text(a.sites)}},
                       R"(
Exit status: 0 no failures, 1 failures, 64 usage.
)")
      .parse(argc, argv, a.patterns);
}

int execute(Arguments& a) {
  const std::string command = a.patterns.empty() ? "" : a.patterns.front();

  if (command == "list")
    return list();
  if (command != "run" || a.context.modules.empty())
    throw std::invalid_argument("list, or run and --modules; --help says more");
  a.patterns.erase(a.patterns.begin());
  return Sweep(a).run();
}

} // namespace

} // namespace faults

int main(int argc, char** argv) {
  return test::guarded("fault-sweep", [&] {
    faults::Arguments arguments;
    const auto status = faults::parse(argc, argv, arguments);

    return status ? *status : faults::execute(arguments);
  });
}
