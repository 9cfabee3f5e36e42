// SPDX-License-Identifier: GPL-2.0
/**
 * @file session.hpp
 * @brief A connection between the peer and the application on the device under test, with strict checks throughout.
 */
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fpdu.hpp"
#include "rdmap.hpp"
#include "startup.hpp"
#include "stream.hpp"
#include "target.hpp"

namespace peer {

/** The peer's role in the MPA startup. The device under test has the other one. */
enum class Role { Initiator, Responder };

/** The options of the command line. */
struct Config {
  std::string address; /**< of the device under test */
  std::string port = "7471";
  std::string ownAddress; /**< the address where the peer listens as Responder; empty: the device's address */
  bool markers = false;   /**< the M bit that the peer sends */
  bool crc = true;        /**< the C bit that the peer sends */
  std::uint8_t revision = 2;
  std::uint64_t seed = 1;
  bool trace = false;
  std::string gate;                       /**< shell command that holds back or releases packets; empty: none */
  std::string removal;                    /**< shell command that removes the device; empty: none */
  bool siw = false;                       /**< read Terminates as siw writes them; do not check the QP state */
  test::milliseconds startupBound{30000}; /**< time limit within which an unfinished startup must be cut off */

  /** The address where the peer listens as Responder. */
  const std::string& listenAddress() const { return ownAddress.empty() ? address : ownAddress; }
};

/** A readable record of the traffic on the wire; shown when a case fails. */
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

/** Parameters of a case. */
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

/** The startup of a session. */
struct Options {
  bool markers, crc;
  std::uint8_t revision;
  Bytes privateData = {}; /**< the peer's */
  Enhanced enhanced = {}; /**< sent in revision 2; as Responder, with the depths that the Request asks for */
  Rtr rtr = Rtr::Any;     /**< as Responder: the choice among the kinds that the Request offers */
  std::function<StartupFrame(const StartupFrame& request)> answer = {}; /**< as Responder: makes the Reply; empty: replyTo() */
  unsigned recvs = 16;                                                  /**< receives that the application posts */
  std::size_t recvSize = 4096;
  std::string application = {}; /**< more options of rdma-target's accept or connect */
  bool hello = true;            /**< exchange the first FPDU, which the Responder must wait for */
  std::uint32_t sequence = 0;   /**< initial TCP sequence number, 0: any */
  bool large = false;           /**< say that the peer takes large FPDUs, even as an unasked Responder */
  bool deviceLarge = false;     /**< the device's frame must say so too */
  End firstAttempt = End::Open; /**< as Responder: End::Fin or End::Reset ends the first connection without a Reply */

  explicit Options(const Config& config) : markers(config.markers), crc(config.crc), revision(config.revision) {}
};

/** Makes the application connect to the peer, and accepts the TCP connection. */
Stream acceptDevice(Context& c);

/**
 * Receives a startup frame; octets behind it go to @p rest. Throws test::Failure when the connection ends.
 * @param large whether the frame must have the reserved bit of large FPDUs; without an agreement it must not (STA-05)
 */
StartupFrame receiveStartup(Stream& stream, FrameKind kind, Bytes& rest, Trace& trace, bool large = false);

/**
 * An established connection. Without a program on the device (Target::present()) the peer is Initiator, its first message is an
 * empty WRITE, and checks that need the application are left out.
 */
class Session {
public:
  /** Makes the connection in the peer's role, and reaches Full Operation. */
  Session(Context& context, const Options& options);

  /** Encodes an FPDU and advances the stream position; sends nothing yet. */
  Bytes frame(const Segment& segment, const Faults& faults = {});
  Bytes frameRaw(View ulpdu, const Faults& faults = {});
  void sendRaw(View octets, const Cuts& cuts = {});
  void send(const Segment& segment, const Faults& faults = {}) { sendRaw(frame(segment, faults)); }

  /** A SEND of one segment with the next MSN; @p seed makes its data. */
  Segment nextSend(std::size_t length, std::uint64_t seed, std::uint8_t opcode = opSend);
  /** Sends @p message in segments that fit a TCP segment, as RNICs do. */
  void sendMessage(const Segment& message);
  /** Sends an empty message as the RTR. @p read has the STags and offsets of a READ, and in its sink those of a WRITE. */
  void sendRtr(Rtr kind, const ReadRequest& read = {});
  /** Takes the MSN for the next SEND. */
  std::uint32_t takeMsn() { return msn_++; }

  /** The next segment from the device; throws when the connection ends or the segment breaks a rule. */
  Segment receive();
  /** Collects a message's segments into one payload. @p first gets the header of its first segment. */
  Bytes receiveMessage(Segment* first = nullptr);
  /** The next segment is a READ request for @p length octets. @p request gets the segment. */
  ReadRequest takeReadRequest(std::size_t length, Segment* request = nullptr);
  /** Fails when data arrives or the connection ends within @p time. */
  void expectSilence(test::milliseconds time);
  /** Fails unless the device closes with a FIN and sends nothing before it. */
  void expectFin();
  /** Waits until the device ends the connection; returns the kind of end. */
  End drain(test::milliseconds budget);

  /** The application receives a message; compares its length and data. */
  void expectRecv(const Segment& sent);
  void expectRecv(std::size_t length, std::uint64_t sum);
  /** Expects a successful completion of operation @p op. */
  Line expectCompletion(const std::string& op);
  /** The application gets the event of the connection's end, and every posted receive is flushed. */
  void expectDown();
  /** The checksum of a part of the memory that the application advertises (region 0). */
  std::uint64_t memorySum(std::size_t offset, std::size_t length);
  /** That memory holds @p data at @p offset. @p what names the checksum in the failure. */
  void expectMemory(std::size_t offset, View data, const std::string& what);
  /** That memory, with the pages around it, is unchanged. */
  void expectMemoryUntouched();

  /** Version of DDP and RDMAP on this connection: 0 when either side speaks revision 0 (RFC 5044 Appendix C). */
  std::uint8_t version() const { return local.revision && remote.revision ? 1 : 0; }
  /** @p segment as send() puts it on the wire: with this connection's version, unless its own is set. */
  Segment asSent(const Segment& segment) const;

  /** @p segment is this Terminate, with the quotations that RFC 5040 Figure 10 requires. */
  void checkTerminate(const Segment& segment, const std::vector<TermCode>& allowed, const Segment* offender) const;
  /** The same for the next segment. */
  void expectTerminate(const std::vector<TermCode>& allowed, const Segment* offender);
  /** expectTerminate(), then a FIN, the application's event, and unchanged memory. */
  void expectRefused(const std::vector<TermCode>& allowed, const Segment* offender);

  /** One message each way, of the given lengths, compared. */
  void talk(std::size_t toDevice = 333, std::size_t fromDevice = 444);
  /** SENDs, WRITEs and READs both ways, of several segments each, compared. */
  void exchange();

  /** The application posts @p count more receives. */
  void postRecvs(unsigned count);

  Context& context;
  StartupFrame local, remote;
  Segment rtr;  /**< as Responder: the RTR, if there was one */
  Line request; /**< the application's CONNECT_REQUEST or, as Initiator, ESTABLISHED event */
  RemoteRegion region;
  bool mixVersions = false;    /**< send segments with their own versions */
  std::size_t largestFpdu = 0; /**< octets of the largest FPDU from the device */

private:
  Bytes rest_; /* octets behind the startup frame */

public:
  Stream stream; /* its initialization sets all of the above */
  OrderChecker order;
  FpduEncoder encoder;
  FpduDecoder decoder;

private:
  Stream open(const Options& options);
  Stream openAsInitiator(const Options& options);
  Stream openAsResponder(const Options& options);
  Stream acceptRequest(bool large);
  void checkRevision0() const;
  Framing framing(bool markers) const;
  void hello();
  void helloAlone();
  void expectRtr();
  End more(const test::Deadline& deadline);
  void peerWrites(std::size_t length);
  void deviceWrites(std::size_t length);
  void peerReads(std::size_t length);
  void deviceReads(std::size_t length);

  std::uint32_t msn_ = 1, readMsn_ = 1;
  unsigned posted_ = 0, consumed_ = 0;
  std::uint64_t memory_ = 0;
};

/** The pattern of SEND payloads. */
Bytes patternData(std::size_t length, std::uint64_t seed);

/** The startup frame that the peer sends in this role with these options. */
StartupFrame startupFrame(FrameKind kind, const Options& options);

/** The Reply that a correct Responder gives to @p request (RFC 6581 §9). */
StartupFrame replyTo(const StartupFrame& request, const Options& options);

} // namespace peer
