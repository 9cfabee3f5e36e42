// SPDX-License-Identifier: GPL-2.0
// A hostile peer after a valid startup: nearly valid segments, with a correct CRC most of the time, in one stream that is cut at
// any place. Memory that the peer has no access to must not change, and the application must get an event at the end.
#include <algorithm>
#include <fstream>
#include <memory>

#include "../../peer/fpdu.hpp"
#include "../../peer/startup.hpp"
#include "../../peer/stream.hpp"
#include "../../verbs/pair.hpp"
#include "guest.hpp"

namespace fuzz {

namespace {

using namespace peer;

constexpr std::size_t page = 4096;

/** An address in the device's memory, as a peer names it. */
struct Place {
  std::uint32_t stag;
  std::uint64_t offset;
};

/** The application, with memory of three kinds, posted receives, and work requests of its own. */
class Application {
public:
  Application(rdma_cm_id* id, Input& in)
      : end_(std::make_unique<rdma::Id>(id), {.cap = {16, 16, 4, 4, 0}}), open_(end_.pd(), page),
        readable_(end_.pd(), page, IBV_ACCESS_REMOTE_READ), local_(end_.pd(), 4 * page, rdma::localOnly) {
    for (std::uint64_t i = in.ConsumeIntegralInRange<unsigned>(0, 8); i; i--)
      end_.postRecv(i, {local_.sge(0, page / (i % 3 + 1)), local_.sge(page, in.ConsumeBool() ? page : 0)});
    rdma_conn_param param = rdma::connectParam({.privateData = {}, .responderResources = 4, .initiatorDepth = 4});
    rdma::check(rdma_accept(end_.id->get(), &param), "rdma_accept");
  }

  /** Posts a work request, so that the peer's responses and MSNs can match one. */
  void post(Input& in) {
    switch (in.ConsumeIntegralInRange(0, 3)) {
    case 0:
      end_.postRead(100, {local_.sge(0, in.ConsumeIntegralInRange<std::size_t>(0, 2 * page))}, 1, 2);
      break;
    case 1:
      end_.postSend(101, {readable_.sge(0, page)});
      break;
    case 2:
      end_.postWrite(102, {readable_.sge(0, page)}, 1, 2);
      break;
    default:
      end_.postRecv(103, {local_.sge(0, page)});
      break;
    }
  }

  /** A place in one of the regions, at its edge most of the time; or an STag or an offset that belongs to none. */
  Place aim(Input& in) const {
    const auto& region = *in.PickValueInArray({&open_, &readable_, &local_});
    Place place{region.rkey(), region.memory.address()};

    place.offset += anyOf<std::uint64_t>(in, {0, 0, 1, page - 64, page - 1, page, ~0ULL});
    switch (in.ConsumeIntegralInRange(0, 15)) {
    case 13:
      place.stag += anyOf(in, {1U, ~0U});
      break;
    case 14:
      place.stag = anyOf(in, {0U, 1U});
      break;
    case 15:
      place.offset = anyOf<std::uint64_t>(in, {0, ~0ULL, ~0ULL - 63});
      break;
    }
    return place;
  }

  void expectUntouched() const {
    const auto zero = [](std::uint8_t octet) { return !octet; };

    if (!std::ranges::all_of(readable_.memory.span(), zero))
      fault("memory was written that may be read only");
  }

private:
  rdma::End end_;
  rdma::Region open_, readable_, local_;
};

Segment tagged(Input& in, Application& a) {
  const auto data = payload(in, 3000);
  const auto at = a.aim(in);

  return in.ConsumeIntegralInRange(0, 3) == 3 ? makeReadResponse(at.stag, at.offset, data) : makeWrite(at.stag, at.offset, data);
}

/** The next MSN of each queue. */
struct Sequence {
  std::uint32_t send = 1, read = 1;
};

Segment readRequest(Input& in, Application& a, std::uint32_t msn) {
  const auto sink = in.ConsumeIntegral<std::uint32_t>();
  const auto size = anyOf(in, {0U, 1U, 64U, 4096U, 4097U, ~0U});
  const auto from = a.aim(in);

  return makeReadRequest(msn, {.sinkStag = sink, .sinkTo = sink, .size = size, .sourceStag = from.stag, .sourceTo = from.offset});
}

Segment untagged(Input& in, Application& a, Sequence& next) {
  switch (in.ConsumeIntegralInRange(0, 4)) {
  case 0:
    return readRequest(in, a, next.read++);
  case 1: {
    const auto code = in.ConsumeIntegral<std::uint16_t>();
    return makeTerminate({.code = {static_cast<std::uint8_t>(code >> 12), static_cast<std::uint8_t>(code >> 8 & 15),
                                   static_cast<std::uint8_t>(code)}});
  }
  default: {
    Segment s = makeSend(next.send++, payload(in, 3000), 0, true, static_cast<std::uint8_t>(in.ConsumeIntegralInRange(3, 6)));
    if (in.ConsumeBool())
      s.invalidate = a.aim(in).stag;
    return s;
  }
  }
}

/** Corrupts one or several fields of a valid segment, or none. */
void spoil(Input& in, Segment& s) {
  while (in.ConsumeIntegralInRange(0, 2) == 2) {
    switch (in.ConsumeIntegralInRange(0, 9)) {
    case 0:
      s.opcode = in.ConsumeIntegral<std::uint8_t>() & 15;
      break;
    case 1:
      s.tagged = !s.tagged;
      break;
    case 2:
    case 3:
      s.last = !s.last;
      break;
    case 4:
      s.ddpVersion = in.ConsumeIntegral<std::uint8_t>() & 3;
      break;
    case 5:
      s.rdmapVersion = in.ConsumeIntegral<std::uint8_t>() & 3;
      break;
    case 6:
      s.qn = anyOf(in, {0U, 1U, 2U, 3U});
      break;
    case 7:
      s.msn += anyOf(in, {1U, 2U, ~0U});
      break;
    case 8:
      s.mo = anyOf(in, {1U, 1400U, 3000U, 4096U, ~0U});
      break;
    case 9:
      s.payload.resize(in.ConsumeIntegralInRange<std::size_t>(0, 40));
      break;
    }
  }
}

Faults wireFaults(Input& in) {
  Faults f;

  switch (in.ConsumeIntegralInRange(0, 30)) {
  case 0:
    f.badCrc = true;
    break;
  case 1:
    f.length = in.ConsumeIntegral<std::uint16_t>();
    break;
  case 2:
    f.marker = in.ConsumeIntegralInRange(0U, 3U);
    f.markerXor = in.ConsumeIntegral<std::uint16_t>();
    break;
  case 3:
    f.pad = in.ConsumeIntegral<std::uint8_t>();
    break;
  }
  return f;
}

/** Sets what the device requests for new connections. */
void configure(const char* setting, bool on) {
  std::ofstream file(std::string("/sys/class/infiniband/") + device + "/iwmpa/" + setting);

  file << on << std::flush;
  if (!file)
    throw test::Failure(std::string("cannot set ") + setting);
}

/** Sends @p request and returns the Reply; the application accepts. */
StartupFrame start(rdma::Server& server, Stream& stream, const StartupFrame& request, Input& in,
                   std::unique_ptr<Application>& application) {
  const test::Deadline deadline(rdma::defaultBudget);
  Bytes reply;

  stream.send(request.encode());
  application = std::make_unique<Application>(server.request().id, in);
  while (reply.size() < startupHeader || reply.size() < startupLength(reply))
    if (stream.receive(reply, deadline) != End::Data)
      throw test::Failure("no Reply");
  return StartupFrame::decode(FrameKind::Reply, View(reply).first(startupLength(reply)));
}

/** Sends segments until the input is used up; the input also determines how they are cut. */
void speak(Stream& stream, FpduEncoder& encoder, Input& in, Application& application) {
  Sequence sequence;
  Bytes out;

  while (in.remaining_bytes()) {
    if (in.ConsumeIntegralInRange(0, 5) == 5)
      application.post(in);
    Segment s = in.ConsumeBool() ? untagged(in, application, sequence) : tagged(in, application);
    spoil(in, s);
    append(out, encoder.encode(s.encode(), wireFaults(in)));
    if (in.ConsumeBool()) {
      stream.send(out, {in.ConsumeIntegralInRange<std::size_t>(1, 3000)});
      out.clear();
    }
  }
  stream.send(out);
}

/** The device must close its side, and the application must get an event. */
void expectEnd(Stream& stream, rdma::Server& server) {
  const test::Deadline deadline(rdma::defaultBudget);
  Bytes ignored;
  auto end = End::Data;

  while (end == End::Data)
    end = stream.receive(ignored, deadline);
  test::expect(end != End::Open, "the device does not end the connection");
  for (;;) {
    const auto event = server.channel.next(deadline);

    test::expect(event.has_value(), "the application does not learn of the end");
    if (event->type == RDMA_CM_EVENT_DISCONNECTED)
      return;
  }
}

} // namespace

void play(Input& in) {
  static rdma::Server server({.address = address, .port = port});
  const std::uint8_t revision = in.ConsumeBool() ? 2 : 1;
  const StartupFrame request{.kind = FrameKind::Request,
                             .markers = in.ConsumeBool(),
                             .crc = in.ConsumeBool(),
                             .enhanced = revision == 2 ? std::optional(Enhanced{}) : std::nullopt,
                             .revision = revision};
  std::unique_ptr<Application> application;

  configure("markers", in.ConsumeBool());
  configure("crc", in.ConsumeBool());
  Stream stream = Stream::connect(address, port);
  const auto reply = start(server, stream, request, in, application);
  FpduEncoder encoder({.markers = reply.markers, .crc = request.crc || reply.crc});
  try {
    speak(stream, encoder, in, *application);
    stream.finish();
  } catch (const std::system_error&) { /* the device has ended the connection */
  }
  expectEnd(stream, server);
  application->expectUntouched();
}

} // namespace fuzz
