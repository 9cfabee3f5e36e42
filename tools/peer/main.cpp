// SPDX-License-Identifier: GPL-2.0
/**
 * @file main.cpp
 * @brief mpa-peer: an MPA/DDP/RDMAP endpoint in user space that tests the one on the other side of the wire.
 */
#include <csignal>
#include <getopt.h>
#include <iostream>

#include "capture.hpp"
#include "cases.hpp"
#include "selftest.hpp"

namespace {

using namespace peer;

const char* const help = R"(usage: mpa-peer selftest [NAME...]
       mpa-peer list
       mpa-peer run [CASE...] --addr A --target CMD [OPTIONS]
       mpa-peer capture FILE... [OPTIONS]     how FPDUs lie in captured TCP segments; see capture --help

selftest needs nothing. run talks to a device under test at address A, where CMD (a shell command, for instance
"ip netns exec h2 rdma-target") runs the companion application. CASE is a name from `list`, or a prefix and *.

  --addr A             address of the device under test
  --port P             port for its listener (7471)
  --own-addr A         address where the device reaches the peer (default: the device's own)
  --role R             initiator, responder or both: what the peer is in the MPA startup (both)
  --target CMD         runs rdma-target (default: rdma-target)
  --markers 0|1        M bit that the peer sends: wants Markers in what it receives (0)
  --crc 0|1            C bit that the peer sends (1)
  --rev 0|1|2          MPA revision of the peer: 0 is the RDMA Consortium's, in Reply and Request; else that of its Request (2)
  --startup-bound S    seconds within which an unfinished startup has to be cut off (30)
  --seed N             of everything random (1)
  --tsv FILE           results, machine-readable
  --siw                the device is siw: read Terminates in its bit order, with the segment's length less its header, and do
                       not ask for the QP's state, which its query_qp leaves out
  --trace              show every frame, not only those of failed cases
  --help

Exit status: 0 passed, 1 failed, 77 nothing could be run, 64 usage.
)";

struct Arguments {
  Config config;
  std::string target = "rdma-target", tsv, command;
  std::vector<std::string> patterns;
  unsigned roles = asBoth;
};

unsigned parseRoles(const std::string& text) {
  if (text == "initiator")
    return asInitiator;
  if (text == "responder")
    return asResponder;
  if (text == "both")
    return asBoth;
  throw std::invalid_argument("--role: initiator, responder or both");
}

bool setOption(Arguments& a, int option, const std::string& value) {
  switch (option) {
  case 'a':
    a.config.address = value;
    return true;
  case 'p':
    a.config.port = value;
    return true;
  case 'o':
    a.config.ownAddress = value;
    return true;
  case 'r':
    a.roles = parseRoles(value);
    return true;
  case 't':
    a.target = value;
    return true;
  case 'm':
    a.config.markers = std::stoul(value);
    return true;
  case 'c':
    a.config.crc = std::stoul(value);
    return true;
  case 'v':
    a.config.revision = static_cast<std::uint8_t>(std::stoul(value));
    return true;
  case 'b':
    a.config.startupBound = std::chrono::seconds(std::stoul(value));
    return true;
  case 's':
    a.config.seed = std::stoull(value, nullptr, 0);
    return true;
  case 'f':
    a.tsv = value;
    return true;
  case 'x':
    a.config.trace = true;
    return true;
  case 'w':
    a.config.siw = true;
    return true;
  default:
    return false;
  }
}

/** Returns the exit status when there is nothing to run. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  static const option options[] = {
      {"addr", 1, nullptr, 'a'},          {"port", 1, nullptr, 'p'},    {"own-addr", 1, nullptr, 'o'}, {"role", 1, nullptr, 'r'},
      {"target", 1, nullptr, 't'},        {"markers", 1, nullptr, 'm'}, {"crc", 1, nullptr, 'c'},      {"rev", 1, nullptr, 'v'},
      {"startup-bound", 1, nullptr, 'b'}, {"seed", 1, nullptr, 's'},    {"tsv", 1, nullptr, 'f'},      {"trace", 0, nullptr, 'x'},
      {"siw", 0, nullptr, 'w'}, {"help", 0, nullptr, 'h'},    {nullptr, 0, nullptr, 0}};

  for (int o; (o = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    if (o == 'h') {
      std::cout << help;
      return 0;
    }
    if (!setOption(a, o, optarg ? optarg : ""))
      return 64;
  }
  a.patterns.assign(argv + optind, argv + argc);
  if (a.patterns.empty()) {
    std::cerr << help;
    return 64;
  }
  a.command = a.patterns.front();
  a.patterns.erase(a.patterns.begin());
  return {};
}

std::vector<WireCase> allCases() {
  std::vector<WireCase> all;

  for (const auto table :
       {startupCases(), enhancedCases(), rdmacCases(), earlyCases(), framingCases(), ddpCases(), rdmapCases(), teardownCases()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

int list() {
  for (const auto& c : allCases())
    std::printf("%-32s %c%c  %s%s%s\n", c.name, c.roles & asInitiator ? 'I' : '-', c.roles & asResponder ? 'R' : '-', c.what,
                *c.shows ? "  " : "", c.shows);
  return 0;
}

/** The application with its listener; made anew when a case left it dead. */
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

  /** Leaves nothing of a case behind for the next one. */
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
      : arguments_(a), report_(a.tsv), device_(a),
        listener_(a.config.ownAddress.empty() ? a.config.address : a.config.ownAddress, "0"), trace_(a.config.trace) {}

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
    return selftest(a.patterns, a.tsv);
  if (a.command == "list")
    return list();
  if (a.command != "run")
    throw std::invalid_argument(a.command + ": selftest, list or run");
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
