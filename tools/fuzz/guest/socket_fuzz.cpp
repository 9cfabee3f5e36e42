// SPDX-License-Identifier: GPL-2.0
// A program's sockets with TCP_ULP "mpa": arbitrary calls in arbitrary order at both ends; one may be a plain TCP socket.
#include "../../socket/socket.hpp"
#include "guest.hpp"

namespace fuzz {

namespace {

using namespace sockets;

void ask(Input& in, const Socket& s) {
  peer::Bytes answer(in.ConsumeIntegralInRange<std::size_t>(0, 700));
  auto length = static_cast<socklen_t>(answer.size());

  getsockopt(s.fd(), SOL_MPA, in.ConsumeIntegralInRange(0, 40), answer.data(), &length);
}

/** Makes one call; its result does not matter. */
void call(Input& in, const Socket& s) {
  switch (in.ConsumeIntegralInRange(0, 10)) {
  case 0:
    s.attach();
    break;
  case 1:
    s.setOption(anyOf(in, {MPA_MARKERS, MPA_CRC, MPA_RDMAC, MPA_PACKING, MPA_STARTUP_TIMEOUT, MPA_REVISION}),
                anyOf(in, {0, 1, 2, -1}));
    break;
  case 2:
    s.start(in.ConsumeIntegralInRange(0, 40), payload(in, 600));
    break;
  case 3:
    s.data(payload(in, 600));
    break;
  case 4:
    s.start(in.ConsumeIntegralInRange<int>(MPA_INITIATE, MPA_START_RDMAC), payload(in, 100));
    break;
  case 5:
    s.send(payload(in, 65535), MSG_NOSIGNAL | anyOf<int>(in, {0, MSG_MORE, MSG_EOR, MSG_OOB, MSG_ZEROCOPY}));
    break;
  case 6:
    s.receive(anyOf<std::uint16_t>(in, {1, 28, 4096, 65535}),
              anyOf<int>(in, {0, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, MSG_OOB, MSG_ERRQUEUE}) | MSG_DONTWAIT);
    break;
  case 7:
    s.shutdown(in.ConsumeIntegralInRange(0, 2));
    break;
  case 8:
    ask(in, s);
    break;
  case 9:
    s.set(IPPROTO_TCP, in.ConsumeIntegralInRange(1, 40), in.ConsumeIntegral<int>());
    break;
  case 10:
    s.inQueue(), s.soError();
    break;
  }
}

/** Octets for plain TCP that may be a frame, perhaps with FPDUs behind it. */
peer::Bytes frame(Input& in) {
  if (in.ConsumeBool())
    return payload(in, 3000);
  peer::StartupFrame f{.kind = in.ConsumeBool() ? peer::FrameKind::Request : peer::FrameKind::Reply,
                       .markers = in.ConsumeBool(),
                       .crc = in.ConsumeBool(),
                       .reject = in.ConsumeIntegralInRange(0, 7) == 7};
  f.revision = anyOf<std::uint8_t>(in, {1, 1, 2, 0});
  if (in.ConsumeIntegralInRange(0, 7) == 7)
    f.lengthOverride = in.ConsumeIntegral<std::uint16_t>();
  f.privateData = payload(in, 512);
  return f.encode();
}

} // namespace

void play(Input& in) {
  static const sockets::Context local{};
  const bool started = in.ConsumeBool();
  const Ends ends =
      started ? startEnds(local, {.clientMarkers = in.ConsumeBool(), .serverMarkers = in.ConsumeBool()}) : connectEnds(local);

  ends.client.nonBlocking(true);
  ends.server.nonBlocking(true);
  while (in.remaining_bytes()) {
    const Socket& s = in.ConsumeBool() ? ends.client : ends.server;

    if (!started && in.ConsumeIntegralInRange(0, 3) == 3)
      s.send(frame(in));
    else
      call(in, s);
  }
}

} // namespace fuzz
