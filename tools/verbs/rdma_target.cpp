// SPDX-License-Identifier: GPL-2.0
/**
 * @file rdma_target.cpp
 * @brief rdma-target: an RDMA application that executes commands, line by line, for the wire peer.
 */
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "../common/rdma.hpp"

namespace {

using rdma::Bytes;
using test::format;

const char* const help = R"(usage: rdma-target < COMMANDS

One command per line, one answer per command: "= ok [KEY=VALUE...]" or "= error TEXT".
Events are printed as "! KIND KEY=VALUE...".

  listen ADDR PORT [tos=N]   wait for connections on one address ("" and 0 as in rdma_bind_addr)
  accept [OPTIONS]           make a QP for the oldest CONNECT_REQUEST and accept it
  reject [pd=HEX]            refuse it
  connect ADDR PORT [OPTIONS]
      OPTIONS: pd=HEX private data, recvs=N receives to post (16), size=N octets each (4096), ird=N, ord=N (16),
               tos=N type of service (connect)
  recv N                     post N more receives
  mr [access=rw|r|w|none] [pd=own|other]    register 64 KiB more; answers mr=INDEX rkey= addr= len=
  info INDEX                 the same answer for an existing region; region 0 is registered with the QP
  dereg INDEX                deregister it
  fill INDEX SEED            fill its memory with a pattern
  sum INDEX [OFFSET LENGTH]  checksum of its memory; without a range, of the whole with the guard pages before and after it
  send LENGTH SEED [solicited]
  write LENGTH SEED RKEY ADDR
  read LENGTH RKEY ADDR
  sink LENGTH                checksum of the memory that READs write to
  state                      answers state=N, ibv_query_qp's qp_state
  disconnect                 rdma_disconnect
  error                      move the QP to ERR
  reset                      destroy the connection and all its objects; the listener stays

Events: cm event= status= pd= ird= ord=; wc op= status= bytes= [id=] [sum=] [inv=]; async event=
A READ's sum= is that of its memory at this moment, with any status.
)";

constexpr std::size_t pageSize = 4096, regionSize = 65536, sinkSize = 1 << 20;

/** Words of a command after its name: those with "=" are options, the others arguments. */
class Arguments {
public:
  explicit Arguments(std::istringstream& words) {
    for (std::string word; words >> word;) {
      const auto equals = word.find('=');

      if (equals == std::string::npos)
        plain_.push_back(word);
      else
        options_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }

  std::string text(std::size_t i) const {
    if (i >= plain_.size())
      throw std::invalid_argument("argument missing");
    return plain_[i] == "\"\"" ? "" : plain_[i];
  }
  std::uint64_t number(std::size_t i) const { return std::stoull(text(i), nullptr, 0); }
  bool has(std::size_t i) const { return i < plain_.size(); }
  std::string option(const std::string& key, const std::string& otherwise) const {
    const auto it = options_.find(key);
    return it == options_.end() ? otherwise : it->second;
  }
  unsigned numberOption(const std::string& key, unsigned otherwise) const {
    return static_cast<unsigned>(std::stoul(option(key, std::to_string(otherwise)), nullptr, 0));
  }

private:
  std::vector<std::string> plain_;
  std::map<std::string, std::string> options_;
};

Bytes fromHex(const std::string& text) {
  Bytes out;

  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return out;
}

std::string toHex(std::span<const std::uint8_t> octets) {
  std::string s;

  for (const auto octet : octets)
    s += format("%02x", octet);
  return s;
}

/** A registered range with an unregistered page before and after it, so that a write outside shows. */
class GuardedRegion {
public:
  GuardedRegion(ibv_pd* pd, int access)
      : memory_(regionSize + 2 * pageSize),
        mr_(rdma::check(ibv_reg_mr(pd, memory_.data() + pageSize, regionSize, access), "ibv_reg_mr")) {
    test::fill(memory_.span(), 1);
  }

  std::string describe(std::size_t index) const {
    return format("mr=%zu rkey=0x%x addr=0x%llx len=%zu", index, mr_ ? mr_->rkey : 0,
                  static_cast<unsigned long long>(memory_.address(pageSize)), regionSize);
  }
  void deregister() { mr_.reset(); }
  void fill(std::uint64_t seed) { test::fill(memory_.span(pageSize, regionSize), seed); }
  std::uint64_t sum() const { return test::checksum(memory_.span()); }
  std::uint64_t sum(std::size_t offset, std::size_t length) const {
    return test::checksum(memory_.span(pageSize + offset, length));
  }

private:
  rdma::Memory memory_;
  rdma::MrHandle mr_;
};

/** A QP with its buffers. */
class Connection {
public:
  Connection(std::unique_ptr<rdma::Id> id, const Arguments& args)
      : pd_(rdma::check(ibv_alloc_pd(id->context()), "ibv_alloc_pd")),
        otherPd_(rdma::check(ibv_alloc_pd(id->context()), "ibv_alloc_pd")), cq(id->context(), 512),
        recvSize_(args.numberOption("size", 4096)), slots_(recvSize_ > 16384 ? 32 : maxRecvs),
        recvs_(std::make_unique<rdma::Region>(pd_.get(), slots_ * recvSize_, rdma::localOnly)),
        sink_(pd_.get(), sinkSize, rdma::remoteAll), id_(std::move(id)) {
    makeQp();
    addRegion(rdma::remoteAll, false);
    postRecvs(args.numberOption("recvs", 16));
  }

  rdma_cm_id* id() const { return id_->get(); }
  ibv_context* context() const { return id_->context(); }

  std::size_t addRegion(int access, bool other) {
    regions_.push_back(std::make_unique<GuardedRegion>(other ? otherPd_.get() : pd_.get(), access));
    return regions_.size() - 1;
  }
  GuardedRegion& region(std::size_t index) { return *regions_.at(index); }

  void postRecvs(unsigned count) {
    for (; count; count--, nextRecv_++) {
      ibv_sge sge = recvs_->sge(nextRecv_ % slots_ * recvSize_, recvSize_);
      ibv_recv_wr wr{}, *bad;

      wr.wr_id = nextRecv_ % slots_;
      wr.sg_list = &sge;
      wr.num_sge = 1;
      rdma::checkVerbs(ibv_post_recv(id_->qp(), &wr, &bad), "ibv_post_recv");
    }
  }

  void postSend(std::size_t length, std::uint64_t seed, unsigned flags) { postOutgoing(IBV_WR_SEND, length, seed, flags, 0, 0); }
  void postWrite(std::size_t length, std::uint64_t seed, std::uint32_t rkey, std::uint64_t address) {
    postOutgoing(IBV_WR_RDMA_WRITE, length, seed, 0, rkey, address);
  }
  void postRead(std::size_t length, std::uint32_t rkey, std::uint64_t address) {
    readLength_ = length;
    post(IBV_WR_RDMA_READ, sink_.sge(0, length), 0, rkey, address);
  }

  void moveToError() { rdma::setState(id_->qp(), IBV_QPS_ERR); }

  std::uint64_t sinkSum(std::size_t length) const { return test::checksum(sink_.memory.span(0, length)); }

  int state() const {
    ibv_qp_attr attr;
    ibv_qp_init_attr init;

    rdma::checkVerbs(ibv_query_qp(id_->qp(), &attr, IBV_QP_STATE, &init), "ibv_query_qp");
    return attr.qp_state;
  }

  std::string describe(const ibv_wc& wc) const {
    std::string s = format("wc op=%s status=%s", isRecv(wc) ? "RECV" : rdma::opcodeName(wc.opcode).c_str(),
                           rdma::statusName(wc.status).c_str());

    if (wc.status != IBV_WC_SUCCESS)
      return isRecv(wc) || !readLength_ ? s : s + format(" sum=0x%llx", sum(sink_.memory.span(0, readLength_)));
    if (isRecv(wc))
      s += format(" bytes=%u id=%llu sum=0x%llx", wc.byte_len, static_cast<unsigned long long>(wc.wr_id),
                  sum(recvs_->memory.span(wc.wr_id * recvSize_, wc.byte_len)));
    if (!isRecv(wc) && wc.opcode == IBV_WC_RDMA_READ)
      s += format(" bytes=%zu sum=0x%llx", readLength_, sum(sink_.memory.span(0, readLength_)));
    if (wc.wc_flags & IBV_WC_WITH_INV)
      s += format(" inv=0x%x", wc.invalidated_rkey);
    return s;
  }

  /** The device no longer reads the memory of this work request. */
  void completed(const ibv_wc& wc) { outgoing_.erase(wc.wr_id); }

private:
  static constexpr std::uint64_t sendId = 1ULL << 32;
  static constexpr std::size_t maxRecvs = 256;

  static unsigned long long sum(std::span<const std::uint8_t> data) { return test::checksum(data); }
  /* The opcode of a failed completion is undefined: the id tells receives from sends. */
  static bool isRecv(const ibv_wc& wc) { return !(wc.wr_id & sendId); }

  void makeQp() {
    ibv_qp_init_attr attr{};

    attr.send_cq = attr.recv_cq = cq.get();
    attr.cap = {256, static_cast<std::uint32_t>(maxRecvs), 1, 1, 0};
    attr.qp_type = IBV_QPT_RC;
    attr.sq_sig_all = 1;
    id_->createQp(pd_.get(), attr);
  }

  void post(ibv_wr_opcode opcode, ibv_sge sge, unsigned flags, std::uint32_t rkey, std::uint64_t address) {
    ibv_send_wr wr{}, *bad;

    wr.wr_id = ++lastId_;
    wr.opcode = opcode;
    wr.sg_list = &sge;
    wr.num_sge = sge.length ? 1 : 0;
    wr.send_flags = IBV_SEND_SIGNALED | flags;
    wr.wr.rdma.rkey = rkey;
    wr.wr.rdma.remote_addr = address;
    rdma::checkVerbs(ibv_post_send(id_->qp(), &wr, &bad), "ibv_post_send");
  }

  /* The device may read the octets until the work request completes, so each has memory of its own. */
  void postOutgoing(ibv_wr_opcode opcode, std::size_t length, std::uint64_t seed, unsigned flags, std::uint32_t rkey,
                    std::uint64_t address) {
    auto region = std::make_unique<rdma::Region>(pd_.get(), std::max<std::size_t>(length, 1), rdma::localOnly);

    test::fill(region->memory.span(0, length), seed);
    post(opcode, region->sge(0, length), flags, rkey, address);
    outgoing_[lastId_] = std::move(region);
  }

  rdma::Pd pd_, otherPd_;

public:
  rdma::Cq cq;

private:
  std::size_t recvSize_, slots_;
  std::unique_ptr<rdma::Region> recvs_;
  rdma::Region sink_;
  std::map<std::uint64_t, std::unique_ptr<rdma::Region>> outgoing_; /**< by wr_id */
  std::vector<std::unique_ptr<GuardedRegion>> regions_;
  std::unique_ptr<rdma::Id> id_; /* last, so that its QP is destroyed first */
  std::size_t nextRecv_ = 0, readLength_ = 0;
  std::uint64_t lastId_ = sendId;
};

/** The program: reads commands, writes events. */
class Program {
public:
  /** Serves until end of input. */
  void run() {
    for (;;) {
      pollfd fds[] = {{0, POLLIN, 0},
                      {channel_.fd(), POLLIN, 0},
                      {deviceIsThere() ? connection_->cq.fd() : -1, POLLIN, 0},
                      {asyncFd(), POLLIN, 0}};

      if (poll(fds, std::size(fds), -1) < 0 && errno != EINTR)
        test::throwErrno("poll");
      if (fds[1].revents)
        cmEvents();
      if (fds[2].revents & POLLIN)
        completions();
      if (fds[3].revents & POLLIN)
        asyncEvent();
      if ((fds[2].revents | fds[3].revents) & POLLERR)
        removed_ = true;
      if (fds[0].revents && !input())
        return;
    }
  }

private:
  using Handler = std::string (Program::*)(const Arguments&);

  static void say(const std::string& line) { std::cout << line << '\n' << std::flush; }

  /** True when the device's events can be polled. */
  bool deviceIsThere() const { return connection_ && !removed_; }

  /** The file descriptor of the verbs context in use, or -1. */
  int asyncFd() const { return deviceIsThere() ? connection_->context()->async_fd : -1; }

  bool input() {
    char chunk[4096];
    const auto n = ::read(0, chunk, sizeof(chunk));

    if (n <= 0)
      return false;
    partial_.append(chunk, static_cast<std::size_t>(n));
    for (std::size_t end; (end = partial_.find('\n')) != std::string::npos;) {
      const std::string line = partial_.substr(0, end);

      partial_.erase(0, end + 1);
      execute(line);
    }
    return true;
  }

  void execute(const std::string& line) {
    static const std::map<std::string, Handler> handlers = {
        {"listen", &Program::listen}, {"accept", &Program::accept},
        {"reject", &Program::reject}, {"connect", &Program::connect},
        {"recv", &Program::recv},     {"mr", &Program::mr},
        {"info", &Program::info},     {"dereg", &Program::dereg},
        {"fill", &Program::fill},     {"sum", &Program::sum},
        {"send", &Program::send},     {"write", &Program::write},
        {"read", &Program::read},     {"disconnect", &Program::disconnect},
        {"sink", &Program::sink},     {"error", &Program::error},
        {"state", &Program::state},   {"reset", &Program::reset},
    };
    std::istringstream words(line);
    std::string name;

    words >> name;
    try {
      const auto it = handlers.find(name);
      if (it == handlers.end())
        throw std::invalid_argument("no such command");
      const std::string answer = (this->*it->second)(Arguments(words));
      say("= ok" + (answer.empty() ? "" : " " + answer));
    } catch (const std::exception& e) {
      say(std::string("= error ") + e.what());
    }
  }

  Connection& connection() {
    if (!connection_)
      throw std::logic_error("no connection");
    return *connection_;
  }

  static rdma::ConnectOptions options(const Arguments& args) {
    return {fromHex(args.option("pd", "")), static_cast<std::uint8_t>(args.numberOption("ird", 16)),
            static_cast<std::uint8_t>(args.numberOption("ord", 16))};
  }

  static void setTos(const rdma::Id& id, const Arguments& args) {
    auto tos = static_cast<std::uint8_t>(args.numberOption("tos", 0));

    if (tos)
      rdma::check(rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)), "rdma_set_option");
  }

  /* --- commands --- */

  std::string listen(const Arguments& args) {
    rdma::Address address(args.text(0), args.text(1));

    listener_.reset();
    listener_ = std::make_unique<rdma::Id>(channel_);
    rdma::check(rdma_bind_addr(listener_->get(), address.get()), "rdma_bind_addr");
    setTos(*listener_, args);
    rdma::check(rdma_listen(listener_->get(), 16), "rdma_listen");
    return format("port=%u", ntohs(rdma_get_src_port(listener_->get())));
  }

  std::unique_ptr<rdma::Id> takeRequest() {
    if (requests_.empty())
      throw std::logic_error("no CONNECT_REQUEST");
    auto id = std::move(requests_.front());
    requests_.erase(requests_.begin());
    return id;
  }

  std::string accept(const Arguments& args) {
    const auto wanted = options(args);
    rdma_conn_param param = rdma::connectParam(wanted);

    connection_.reset();
    connection_ = std::make_unique<Connection>(takeRequest(), args);
    watch();
    rdma::check(rdma_accept(connection_->id(), &param), "rdma_accept");
    return connection_->region(0).describe(0);
  }

  std::string reject(const Arguments& args) {
    const Bytes data = options(args).privateData;
    const auto id = takeRequest();

    rdma::check(rdma_reject(id->get(), data.data(), static_cast<std::uint8_t>(data.size())), "rdma_reject");
    return "";
  }

  std::string connect(const Arguments& args) {
    rdma::Address address(args.text(0), args.text(1));
    auto id = std::make_unique<rdma::Id>(channel_);
    const auto wanted = options(args);
    rdma_conn_param param = rdma::connectParam(wanted);

    rdma::resolve(*id, channel_, address);
    setTos(*id, args);
    connection_.reset();
    connection_ = std::make_unique<Connection>(std::move(id), args);
    watch();
    rdma::check(rdma_connect(connection_->id(), &param), "rdma_connect");
    return connection_->region(0).describe(0);
  }

  std::string recv(const Arguments& args) {
    connection().postRecvs(static_cast<unsigned>(args.number(0)));
    return "";
  }

  std::string mr(const Arguments& args) {
    static const std::map<std::string, int> access = {
        {"rw", rdma::remoteAll},
        {"r", IBV_ACCESS_REMOTE_READ},
        {"w", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE},
        {"none", IBV_ACCESS_LOCAL_WRITE},
    };
    const auto index = connection().addRegion(access.at(args.option("access", "rw")), args.option("pd", "own") == "other");
    return connection().region(index).describe(index);
  }

  std::string info(const Arguments& args) { return connection().region(args.number(0)).describe(args.number(0)); }

  std::string dereg(const Arguments& args) {
    connection().region(args.number(0)).deregister();
    return "";
  }

  std::string fill(const Arguments& args) {
    connection().region(args.number(0)).fill(args.number(1));
    return "";
  }

  std::string sum(const Arguments& args) {
    auto& region = connection().region(args.number(0));
    const auto value = args.has(1) ? region.sum(args.number(1), args.number(2)) : region.sum();

    return format("sum=0x%llx", static_cast<unsigned long long>(value));
  }

  std::string send(const Arguments& args) {
    connection().postSend(args.number(0), args.number(1), args.has(2) ? IBV_SEND_SOLICITED : 0);
    return "";
  }

  std::string write(const Arguments& args) {
    connection().postWrite(args.number(0), args.number(1), static_cast<std::uint32_t>(args.number(2)), args.number(3));
    return "";
  }

  std::string read(const Arguments& args) {
    connection().postRead(args.number(0), static_cast<std::uint32_t>(args.number(1)), args.number(2));
    return "";
  }

  std::string sink(const Arguments& args) {
    return format("sum=0x%llx", static_cast<unsigned long long>(connection().sinkSum(args.number(0))));
  }

  std::string disconnect(const Arguments&) {
    rdma::check(rdma_disconnect(connection().id()), "rdma_disconnect");
    return "";
  }

  std::string error(const Arguments&) {
    connection().moveToError();
    return "";
  }

  std::string state(const Arguments&) { return format("state=%d", connection().state()); }

  std::string reset(const Arguments&) {
    connection_.reset();
    removed_ = false;
    cmEvents(); /* pending Requests are also part of the reset */
    requests_.clear();
    return "";
  }

  /* --- events --- */

  void watch() {
    rdma::setNonBlocking(asyncFd());
    connection_->cq.arm();
  }

  void cmEvents() {
    while (const auto event = channel_.next(test::Deadline(test::milliseconds(0)))) {
      if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST)
        requests_.push_back(std::make_unique<rdma::Id>(event->id));
      say(format("! cm event=%s status=%d pd=%s ird=%u ord=%u", shortName(*event).c_str(), event->status,
                 toHex(event->privateData).c_str(), event->responderResources, event->initiatorDepth));
    }
  }

  static std::string shortName(const rdma::Event& event) { return event.name().substr(std::string("RDMA_CM_EVENT_").size()); }

  /** Consumes the notification, arms the CQ, and then empties it, so that no completion is missed. */
  void completions() {
    if (connection_->cq.notified(test::Deadline(test::milliseconds(0))))
      connection_->cq.arm();
    for (;;) {
      const auto list = connection_->cq.poll();

      for (const auto& wc : list) {
        say("! " + connection_->describe(wc));
        connection_->completed(wc);
      }
      if (list.empty())
        return;
    }
  }

  void asyncEvent() {
    ibv_async_event event;

    if (ibv_get_async_event(connection_->context(), &event))
      return;
    say("! async event=" + rdma::asyncName(event.event_type));
    ibv_ack_async_event(&event);
  }

  rdma::Channel channel_;
  std::unique_ptr<rdma::Id> listener_;
  std::vector<std::unique_ptr<rdma::Id>> requests_;
  std::unique_ptr<Connection> connection_;
  bool removed_ = false; /**< the device of connection_ was removed */
  std::string partial_;
};

} // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::cout << help;
    return 0;
  }
  try {
    Program().run();
  } catch (const std::exception& e) {
    std::cerr << "rdma-target: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
