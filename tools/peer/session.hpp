// SPDX-License-Identifier: GPL-2.0
/**
 * @file session.hpp
 * @brief A connection between the peer and the application on the device under test, checked strictly all along.
 */
#pragma once

#include <memory>
#include <vector>

#include "fpdu.hpp"
#include "rdmap.hpp"
#include "startup.hpp"
#include "stream.hpp"
#include "target.hpp"

namespace peer {

/** What the peer is in the MPA startup. The device under test is the other. */
enum class Role { Initiator, Responder };

/** Command line. */
struct Config {
  std::string address; /**< of the device under test */
  std::string port = "7471";
  std::string ownAddress; /**< where the peer listens as Responder; the device's address when empty */
  bool markers = false;   /**< the M bit that the peer sends */
  bool crc = true;        /**< the C bit that the peer sends */
  std::uint8_t revision = 2;
  std::uint64_t seed = 1;
  bool trace = false;
  std::string gate;                       /**< shell command that holds packets back and lets them go; empty: none */
  std::string removal;                    /**< shell command that removes the device; empty: none */
  bool siw = false;                       /**< read Terminates as siw writes them; it tells no QP state */
  test::milliseconds startupBound{30000}; /**< a startup that does not end is cut off within this time */
};

/** Readable record of what went over the wire; shown when a case fails. */
class Trace {
public:
  explicit Trace(bool live) : live_(live) {}
  void add(const std::string& line);
  void dump() const;
  void clear() { lines_.clear(); }

private:
  bool live_;
  std::vector<std::string> lines_;
};

/** What a case works with. */
struct Context {
  const Config& config;
  Role role;
  Target& target;
  Listener& listener;
  Trace& trace;
};

/** A memory region of the application. */
struct RemoteRegion {
  unsigned index = 0;
  std::uint32_t stag = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;

  static RemoteRegion parse(const Line& line);
};

/** What the Initiator sends first in the peer-to-peer model (RFC 6581 §9.2). */
enum class Rtr { Any, Send, Write, Read };

/** How a session is to be started. */
struct Options {
  bool markers, crc;
  std::uint8_t revision;
  Bytes privateData = {}; /**< the peer's */
  Enhanced enhanced = {}; /**< sent in revision 2; as Responder, with the depths that the Request asks for */
  Rtr rtr = Rtr::Any;     /**< as Responder: what is chosen of the kinds that the Request offers */
  unsigned recvs = 16;    /**< receives that the application posts */
  std::size_t recvSize = 4096;
  std::string application = {}; /**< more options of rdma-target's accept or connect */
  bool hello = true;            /**< exchange the first FPDU, which the Responder has to wait for */
  std::uint32_t sequence = 0;   /**< initial TCP sequence number, 0: any */
  End firstAttempt = End::Open; /**< as Responder: End::Fin or End::Reset ends the first connection without a Reply */

  explicit Options(const Config& config) : markers(config.markers), crc(config.crc), revision(config.revision) {}
};

/** Receives a startup frame; what came behind it goes to @p rest. Throws test::Failure when the connection ends. */
StartupFrame receiveStartup(Stream& stream, FrameKind kind, Bytes& rest, Trace& trace);

/**
 * An established connection. Without a program on the device (Target::present()) the peer is Initiator, its first message is an
 * empty WRITE, and what only the application could say is left out.
 */
class Session {
public:
  /** Connects, or is connected to, and reaches Full Operation. */
  Session(Context& context, const Options& options);

  /** The octets of an FPDU, its position taken; nothing is sent yet. */
  Bytes frame(const Segment& segment, const Faults& faults = {});
  Bytes frameRaw(View ulpdu, const Faults& faults = {});
  void sendRaw(View octets, const Cuts& cuts = {});
  void send(const Segment& segment, const Faults& faults = {}) { sendRaw(frame(segment, faults)); }

  /** A SEND of one segment with the next MSN; @p seed makes its data. */
  Segment nextSend(std::size_t length, std::uint64_t seed, std::uint8_t opcode = opSend);
  /** The MSN that the next SEND has to use; taken. */
  std::uint32_t takeMsn() { return msn_++; }

  /** The next segment from the device; throws when the connection ends or the segment breaks a rule. */
  Segment receive();
  /** Collects a message's segments into one payload. @p first gets the header of its first segment. */
  Bytes receiveMessage(Segment* first = nullptr);
  /** The next segment is a READ request for @p length octets. @p request gets the segment. */
  ReadRequest takeReadRequest(std::size_t length, Segment* request = nullptr);
  /** Fails when anything comes, or the connection ends, within @p time. */
  void expectSilence(test::milliseconds time);
  /** Fails unless the device closes with a FIN and sends nothing before it. */
  void expectFin();
  /** Waits until the device ends the connection, and says how. */
  End drain(test::milliseconds budget);

  /** The application receives a message: its length and data are compared. */
  void expectRecv(const Segment& sent);
  void expectRecv(std::size_t length, std::uint64_t sum);
  /** The application's other completion succeeds. */
  Line expectCompletion(const std::string& op);
  /** The application is told of the end, and every receive that is still posted is flushed. */
  void expectDown();
  /** The memory that the application advertises (region 0), with the pages around it, is as it was at first. */
  void expectMemoryUntouched();

  /** Version of DDP and RDMAP on this connection: 0 when either side speaks revision 0 (RFC 5044 Appendix C). */
  std::uint8_t version() const { return local.revision && remote.revision ? 1 : 0; }
  /** @p segment as send() puts it on the wire: with this connection's version, unless it has one of its own. */
  Segment asSent(const Segment& segment) const;

  /** The next segment is this Terminate, with the quotations that RFC 5040 Figure 10 asks for. */
  void expectTerminate(const std::vector<TermCode>& allowed, const Segment* offender);
  /** expectTerminate(), then a FIN, the application told, and the memory untouched. */
  void expectRefused(const std::vector<TermCode>& allowed, const Segment* offender);

  /** One message each way, of so many octets, compared. */
  void talk(std::size_t toDevice = 333, std::size_t fromDevice = 444);

  /** The application posts @p count more receives. */
  void postRecvs(unsigned count);

  Context& context;
  StartupFrame local, remote;
  Line request; /**< the application's CONNECT_REQUEST or, as Initiator, ESTABLISHED event */
  RemoteRegion region;
  bool mixVersions = false; /**< send segments with the versions that they have */

private:
  Bytes rest_; /* behind the startup frame */

public:
  Stream stream; /* opening it sets all of the above */
  OrderChecker order;
  FpduEncoder encoder;
  FpduDecoder decoder;

private:
  Stream open(const Options& options);
  Stream openAsInitiator(const Options& options);
  Stream openAsResponder(const Options& options);
  Stream acceptRequest();
  void checkRevision0() const;
  Framing framing(bool markers) const;
  void hello();
  void helloAlone();
  void expectRtr();
  End more(const test::Deadline& deadline);

  std::uint32_t msn_ = 1;
  unsigned posted_ = 0, consumed_ = 0;
  std::uint64_t memory_ = 0;
};

/** The pattern that SEND payloads are made of. */
Bytes patternData(std::size_t length, std::uint64_t seed);

/** The startup frame that the peer sends in this role with these options. */
StartupFrame startupFrame(FrameKind kind, const Options& options);

/** The Reply that a correct Responder gives to @p request (RFC 6581 §9). */
StartupFrame replyTo(const StartupFrame& request, const Options& options);

} // namespace peer
