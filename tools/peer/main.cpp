// SPDX-License-Identifier: GPL-2.0
/**
 * @file main.cpp
 * @brief mpa-peer: an MPA/DDP/RDMAP endpoint in user space that tests the endpoint on the other side of the wire.
 */
#include <csignal>

#include "../common/options.hpp"
#include "capture.hpp"
#include "cases.hpp"
#include "profiles.hpp"
#include "selftest.hpp"

namespace {

using namespace peer;

struct Arguments {
  Config config;
  std::string target = "rdma-target", command, profile;
  std::vector<std::string> patterns;
  unsigned roles = asBoth;
};

int listProfiles() {
  for (const auto& p : profiles())
    std::printf("%s: %s\n  source: %s\n  inference: %s\n", p.name, p.what, p.source, p.inference);
  return 0;
}

/** Returns the exit status when no case is to be run. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  auto& config = a.config;
  const auto bound = [&](const std::string& value) {
    unsigned seconds;

    test::number(seconds)(value);
    config.startupBound = std::chrono::seconds(seconds);
  };
  test::Options options(
      R"(usage: mpa-peer selftest [NAME...]
       mpa-peer list
       mpa-peer run [CASE...] --addr A --target CMD [OPTIONS]
       mpa-peer --profile list
       mpa-peer capture FILE... [OPTIONS]     alignment of FPDUs in captured TCP segments; see capture --help

selftest needs no device. run tests a device at address A, where CMD (a shell command, for instance
"ip netns exec h2 rdma-target") runs the companion application. CASE is a name from `list`, or a prefix and *.

)",
      {{"addr", "A", "address of the device under test", test::text(config.address)},
       {"port", "P", "port for its listener (7471)", test::text(config.port)},
       {"own-addr", "A", "address where the device reaches the peer (default: the device's own)", test::text(config.ownAddress)},
       {"role", "R", "initiator, responder or both: the peer's role in the MPA startup (both)",
        test::choice(a.roles, {{"initiator", asInitiator}, {"responder", asResponder}, {"both", asBoth}})},
       {"target", "CMD", "command that runs rdma-target (default: rdma-target)", test::text(a.target)},
       {"markers", "0|1", "M bit that the peer sends: asks the device for Markers (0)", test::number(config.markers)},
       {"crc", "0|1", "C bit that the peer sends (1)", test::number(config.crc)},
       {"rev", "0|1|2", "MPA revision of the peer: 0 (the RDMA Consortium's) in Reply and Request; else that of its Request (2)",
        test::number(config.revision, 0, 2)},
       {"profile", "NAME",
        "start connections like this RNIC: the case profile-NAME. `list` prints the names, with what each imitates, the\n"
        "driver's functions that say so, and what is inference",
        test::text(a.profile)},
       {"startup-bound", "S", "seconds within which the device must end an unfinished startup (30)", bound},
       {"seed", "N", "seed of all random values (1)", test::number(config.seed)},
       {"siw", nullptr,
        "the device is siw: read Terminates in its bit order and with its segment length (without the headers), and do\n"
        "not check the QP's state, which its query_qp does not report",
        test::flag(config.siw)},
       {"gate", "CMD",
        "holds IPv4 packets of 352 to 383 octets back: with `block` appended it holds later packets, with `release` it\n"
        "releases those from before the last `block`. For the cases held-*; the caller has closed the gate before",
        test::text(config.gate)},
       {"removal", "CMD", "command that removes the device, for the case removal-write, which must be the last",
        test::text(config.removal)},
       {"trace", nullptr, "show every frame, not only those of failed cases", test::flag(config.trace)}},
      R"(
Exit status: 0 passed, 1 failed, 77 no case could run, 64 usage.
)");

  if (const auto status = options.parse(argc, argv, a.patterns))
    return status;
  if (a.profile == "list")
    return listProfiles();
  if (!a.profile.empty())
    a.patterns.push_back(std::string("profile-") + profile(a.profile).name);
  if (a.patterns.empty()) {
    options.print(stderr);
    return 64;
  }
  a.command = a.patterns.front();
  a.patterns.erase(a.patterns.begin());
  return {};
}

int list() {
  for (const auto& c : allCases())
    std::printf("%-32s %c%c  %s%s%s\n", c.name, c.roles & asInitiator ? 'I' : '-', c.roles & asResponder ? 'R' : '-', c.what,
                *c.shows ? "  " : "", c.shows);
  return 0;
}

/** The application with its listener; started again when a case has ended it. */
class Device {
public:
  explicit Device(const Arguments& a) : arguments_(a) {}

  Target& target() {
    if (!target_) {
      target_ = std::make_unique<Target>(arguments_.target);
      target_->command("listen " + arguments_.config.address + " " + arguments_.config.port);
    }
    return *target_;
  }

  /** Removes all state of a case before the next one. */
  void tidy() {
    try {
      target().command("reset");
      target().forget();
    } catch (const std::exception&) {
      target_.reset();
    }
  }

private:
  const Arguments& arguments_;
  std::unique_ptr<Target> target_;
};

class Runner {
public:
  explicit Runner(const Arguments& a)
      : arguments_(a), device_(a), listener_(a.config.listenAddress(), "0"), trace_(a.config.trace) {}

  int run() {
    const auto cases = allCases();
    unsigned matched = 0;

    for (const auto& c : cases) {
      if (!test::selected(c.name, arguments_.patterns))
        continue;
      matched++;
      for (const auto role : {asInitiator, asResponder})
        if (c.roles & arguments_.roles & role)
          one(c, role == asInitiator ? Role::Initiator : Role::Responder);
    }
    if (!matched)
      throw std::invalid_argument("no case matches; see mpa-peer list");
    return report_.finish();
  }

private:
  void one(const WireCase& c, Role role) {
    const std::string name = std::string(c.name) + (role == Role::Initiator ? "/initiator" : "/responder");
    const bool good = report_.run(name, c.shows, [&] {
      Context context{arguments_.config, role, device_.target(), listener_, trace_};
      c.run(context);
    });

    if (!good)
      trace_.dump();
    trace_.clear();
    device_.tidy();
  }

  const Arguments& arguments_;
  test::Report report_;
  Device device_;
  Listener listener_;
  Trace trace_;
};

int execute(const Arguments& a) {
  if (a.command == "selftest")
    return selftest(a.patterns);
  if (a.command == "list")
    return list();
  if (a.command != "run")
    throw std::invalid_argument(a.command + ": selftest, list, run or capture");
  if (a.config.address.empty())
    throw std::invalid_argument("run needs --addr");
  return Runner(a).run();
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return test::guarded("mpa-peer", [&] {
    if (argc > 1 && argv[1] == std::string("capture"))
      return captureCommand(argc - 1, argv + 1);
    Arguments arguments;
    const auto status = parse(argc, argv, arguments);

    return status ? *status : execute(arguments);
  });
}
