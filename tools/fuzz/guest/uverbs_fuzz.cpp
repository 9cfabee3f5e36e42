// SPDX-License-Identifier: GPL-2.0
// A program that calls uverbs directly: nearly valid commands, in any order, whose driver-specific part has any length;
// and mappings at any offset of the device's file.
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../common/rdma.hpp"
#include "guest.hpp"

namespace fuzz {

namespace {

/** The device's file below /dev/infiniband. */
std::string path() {
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband_verbs"))
    if (std::ifstream file(entry.path() / "ibdev"); file) {
      std::string name;
      if (file >> name && name == device)
        return "/dev/infiniband/" + entry.path().filename().string();
    }
  throw test::Failure("no verbs device of " + std::string(device));
}

class Program {
public:
  ~Program() {
    for (const auto& ring : mappings_)
      munmap(ring.data(), ring.size());
    // Close the event files of the context and of its objects: all were opened after the device's file.
    close_range(static_cast<unsigned>(fd_.get()) + 1, ~0U, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  explicit Program(Input& in) : in_(in), fd_(::open(path().c_str(), O_RDWR | O_CLOEXEC)), memory_(16384) {
    if (!fd_)
      test::throwErrno("uverbs");
    ib_uverbs_get_context body{};
    command(IB_USER_VERBS_CMD_GET_CONTEXT, body, sizeof(ib_uverbs_get_context_resp));
  }

  void step() {
    switch (in_.ConsumeIntegralInRange(0, 13)) {
    case 0: {
      ib_uverbs_alloc_pd b{};
      command(IB_USER_VERBS_CMD_ALLOC_PD, b, 4);
      break;
    }
    case 1:
    case 2:
      createCq();
      break;
    case 3:
    case 4:
      createQp();
      break;
    case 5:
      registerMemory();
      break;
    case 6:
      createSrq();
      break;
    case 7:
      modifyQp();
      break;
    case 8: {
      ib_uverbs_modify_srq b{handle(), in_.ConsumeIntegral<std::uint8_t>(), count(), count()};
      command(IB_USER_VERBS_CMD_MODIFY_SRQ, b, 0);
      break;
    }
    case 9: {
      ib_uverbs_req_notify_cq b{handle(), in_.ConsumeBool()};
      command(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, b, 0);
      break;
    }
    case 10: {
      ib_uverbs_query_qp b{0, handle(), in_.ConsumeIntegral<std::uint32_t>()};
      command(IB_USER_VERBS_CMD_QUERY_QP, b, sizeof(ib_uverbs_query_qp_resp));
      break;
    }
    case 11:
      destroy();
      break;
    case 12:
      map();
      break;
    case 13:
      method();
      break;
    }
  }

private:
  /** Returns a handle: most objects are among the first few of a file. */
  std::uint32_t handle() { return in_.ConsumeIntegralInRange<std::uint32_t>(0, 9); }
  std::uint32_t count() { return anyOf(in_, {0U, 1U, 16U, 128U, 32768U, ~0U}); }

  /** Writes a command whose response pointer is at the start of @p body. The driver's part has any length, and so has the room for
   * its response. */
  template <class Body> void command(std::uint32_t number, Body body, std::size_t answer) {
    constexpr bool answered = sizeof(body) >= 8;
    const auto extra = in_.ConsumeIntegralInRange<std::size_t>(0, 8) * 4, room = in_.ConsumeIntegralInRange<std::size_t>(0, 16) * 4;
    peer::Bytes octets(sizeof(ib_uverbs_cmd_hdr) + sizeof(body));

    if (answered && answer) {
      const std::uint64_t at = reinterpret_cast<std::uintptr_t>(answer_.data());
      std::memcpy(&body, &at, sizeof(at));
    }
    const ib_uverbs_cmd_hdr header{number, static_cast<std::uint16_t>((octets.size() + extra) / 4),
                                   static_cast<std::uint16_t>((answer + room) / 4)};
    std::memcpy(octets.data(), &header, sizeof(header));
    std::memcpy(octets.data() + sizeof(header), &body, sizeof(body));
    peer::append(octets, in_.ConsumeBytes<std::uint8_t>(extra));
    octets.resize(std::size_t{header.in_words} * 4);
    (void)!::write(fd_.get(), octets.data(), octets.size());
  }

  void createCq() {
    ib_uverbs_create_cq b{};

    b.cqe = count();
    b.comp_vector = in_.ConsumeBool();
    b.comp_channel = in_.ConsumeBool() ? -1 : static_cast<int>(handle());
    command(IB_USER_VERBS_CMD_CREATE_CQ, b, sizeof(ib_uverbs_create_cq_resp));
  }

  void createQp() {
    ib_uverbs_create_qp b{};

    b.pd_handle = handle();
    b.send_cq_handle = handle();
    b.recv_cq_handle = in_.ConsumeBool() ? b.send_cq_handle : handle();
    b.srq_handle = handle();
    b.max_send_wr = count();
    b.max_recv_wr = count();
    b.max_send_sge = anyOf(in_, {1U, 6U, 7U});
    b.max_recv_sge = anyOf(in_, {1U, 6U, 7U});
    b.max_inline_data = anyOf(in_, {0U, 80U, 81U});
    b.qp_type = anyOf<std::uint8_t>(in_, {IBV_QPT_RC});
    b.is_srq = in_.ConsumeIntegralInRange(0, 3) == 3;
    command(IB_USER_VERBS_CMD_CREATE_QP, b, sizeof(ib_uverbs_create_qp_resp));
  }

  void createSrq() {
    ib_uverbs_create_srq b{};

    b.pd_handle = handle();
    b.max_wr = count();
    b.max_sge = anyOf(in_, {0U, 1U, 6U, 7U});
    b.srq_limit = count();
    command(IB_USER_VERBS_CMD_CREATE_SRQ, b, sizeof(ib_uverbs_create_srq_resp));
  }

  void registerMemory() {
    ib_uverbs_reg_mr b{};

    b.start = anyOf<std::uint64_t>(in_, {memory_.address(), memory_.address(100), 0, ~0ULL});
    b.length = anyOf<std::uint64_t>(in_, {0, 1, 4096, 16384, 16385, ~0ULL});
    b.hca_va = in_.ConsumeBool() ? b.start : in_.ConsumeIntegral<std::uint64_t>();
    b.pd_handle = handle();
    b.access_flags = in_.ConsumeIntegral<std::uint8_t>();
    command(IB_USER_VERBS_CMD_REG_MR, b, sizeof(ib_uverbs_reg_mr_resp));
  }

  void modifyQp() {
    ib_uverbs_modify_qp b{};

    b.qp_handle = handle();
    b.attr_mask = anyOf<std::uint32_t>(in_, {IBV_QP_STATE, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS});
    b.qp_state = in_.ConsumeIntegralInRange<std::uint8_t>(0, 7);
    b.cur_qp_state = in_.ConsumeIntegralInRange<std::uint8_t>(0, 7);
    b.qp_access_flags = in_.ConsumeIntegral<std::uint8_t>();
    command(IB_USER_VERBS_CMD_MODIFY_QP, b, 0);
  }

  void destroy() {
    const ib_uverbs_destroy_qp b{0, handle(), 0};

    switch (in_.ConsumeIntegralInRange(0, 4)) {
    case 0:
      command(IB_USER_VERBS_CMD_DEALLOC_PD, b.qp_handle, 0);
      break;
    case 1:
      command(IB_USER_VERBS_CMD_DEREG_MR, b.qp_handle, 0);
      break;
    case 2:
      command(IB_USER_VERBS_CMD_DESTROY_CQ, b, sizeof(ib_uverbs_destroy_cq_resp));
      break;
    case 3:
      command(IB_USER_VERBS_CMD_DESTROY_QP, b, sizeof(ib_uverbs_destroy_qp_resp));
      break;
    case 4:
      command(IB_USER_VERBS_CMD_DESTROY_SRQ, b, sizeof(ib_uverbs_destroy_srq_resp));
      break;
    }
  }

  /** Maps an offset; the lowest are those of rings. Mappings are not accessed, and end here or with the program. */
  void map() {
    const auto length = anyOf<std::size_t>(in_, {1, 4096, 8192, 65536}) % (1 << 20) + 1;
    const auto offset = anyOf<std::uint32_t>(in_, {0, 1, 2, 3}) * off_t{4096};
    void* const ring = mmap(nullptr, length, PROT_READ | (in_.ConsumeBool() ? PROT_WRITE : 0),
                            in_.ConsumeBool() ? MAP_SHARED : MAP_PRIVATE, fd_.get(), offset);

    if (ring != MAP_FAILED)
      mappings_.push_back({static_cast<std::uint8_t*>(ring), length});
    if (!mappings_.empty() && in_.ConsumeBool()) {
      munmap(mappings_.back().data(), mappings_.back().size());
      mappings_.pop_back();
    }
  }

  /** The ioctl interface: calls a method with attributes, including the driver's. */
  void method() {
    const auto n = in_.ConsumeIntegralInRange<std::uint16_t>(0, 6);
    peer::Bytes octets(sizeof(ib_uverbs_ioctl_hdr) + n * sizeof(ib_uverbs_attr));
    ib_uverbs_ioctl_hdr header{};

    header.length = static_cast<std::uint16_t>(octets.size());
    header.object_id = in_.ConsumeIntegralInRange<std::uint16_t>(0, UVERBS_OBJECT_ASYNC_EVENT);
    header.method_id = in_.ConsumeIntegralInRange<std::uint16_t>(0, 6);
    header.num_attrs = n;
    header.driver_id = in_.ConsumeIntegralInRange(0U, 20U);
    std::memcpy(octets.data(), &header, sizeof(header));
    for (std::size_t i = 0; i < n; i++) {
      const auto a = attribute();
      std::memcpy(octets.data() + sizeof(header) + i * sizeof(a), &a, sizeof(a));
    }
    ioctl(fd_.get(), RDMA_VERBS_IOCTL, octets.data());
  }

  ib_uverbs_attr attribute() {
    ib_uverbs_attr a{};

    a.attr_id = anyOf<std::uint16_t>(in_, {0, 1, 2, 3, 4, UVERBS_ATTR_UHW_IN, UVERBS_ATTR_UHW_OUT});
    a.len = anyOf<std::uint16_t>(in_, {0, 4, 8, 16, 24, 64}) % answer_.size();
    a.flags = in_.ConsumeBool();
    a.data = in_.ConsumeBool() ? handle() : reinterpret_cast<std::uintptr_t>(answer_.data());
    return a;
  }

  Input& in_;
  test::Fd fd_;
  rdma::Memory memory_;
  std::array<std::uint8_t, 4096> answer_{};
  std::vector<std::span<std::uint8_t>> mappings_;
};

} // namespace

void play(Input& in) {
  Program program(in);

  while (in.remaining_bytes())
    program.step();
}

} // namespace fuzz
