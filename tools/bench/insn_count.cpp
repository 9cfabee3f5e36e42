// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * insn_count: a QEMU TCG plugin that counts the guest's instructions in each measured region.
 *
 * A region lies between the two NOPs of measure.hpp, in a program or in the kernel. Idle time, which -icount adds to the guest's
 * time stamp counter, is not counted here. Arguments: `out=FILE`, and `profile=on` to
 * also write the number of instructions executed in each translation block.
 *
 * Output, one set of lines per region:
 *     region NUMBER kernel INSTRUCTIONS user INSTRUCTIONS
 *     block ADDRESS INSTRUCTIONS                             (profile=on)
 *
 * Written for plugin API version 1 (QEMU 7.2 of Debian 12). No package installs the header of that version, so the
 * few functions in use are declared here.
 */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>

extern "C" {
using qemu_plugin_id_t = std::uint64_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* tb, qemu_plugin_op op, void* counter, std::uint64_t addend);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* insn, void (*callback)(unsigned int, void*),
                                            qemu_plugin_cb_flags flags, void* data);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb);
std::uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb* tb);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* tb, std::size_t index);
const void* qemu_plugin_insn_data(const qemu_plugin_insn* insn);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn* insn);

#define PLUGIN_EXPORT __attribute__((visibility("default")))
extern PLUGIN_EXPORT int qemu_plugin_version;
int qemu_plugin_version = 1;
PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv);
}

namespace {

struct Counter {
  std::uint64_t now = 0;
  std::uint64_t atStart = 0;

  std::uint64_t inRegion() const { return now - atStart; }
};

struct State {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out{nullptr, std::fclose};
  bool profile = false;
  unsigned region = 0;
  Counter kernel;
  Counter user;
  /** Counters by the address of a translation block. Generated code has pointers to the nodes, which never move. */
  std::unordered_map<std::uint64_t, Counter> blocks;
};
/** Never destroyed: the virtual CPU may still run and count while QEMU leaves main(). */
State& state = *new State;

constexpr bool isKernel(std::uint64_t address) {
  return address >> 63;
}

void regionBegins(unsigned int, void*) {
  state.kernel.atStart = state.kernel.now;
  state.user.atStart = state.user.now;
  for (auto& [address, counter] : state.blocks)
    counter.atStart = counter.now;
}

void regionEnds(unsigned int, void*) {
  std::FILE* const out = state.out.get();
  std::fprintf(out, "region %u kernel %llu user %llu\n", ++state.region, static_cast<unsigned long long>(state.kernel.inRegion()),
               static_cast<unsigned long long>(state.user.inRegion()));
  for (const auto& [address, counter] : state.blocks)
    if (counter.inRegion())
      std::fprintf(out, "block %llx %llu\n", static_cast<unsigned long long>(address),
                   static_cast<unsigned long long>(counter.inRegion()));
  std::fflush(out);
}

/** Hooks the NOPs at the two ends of a region: 0f 1f 80 (78|79) 56 34 12. */
void watch(qemu_plugin_insn* insn) {
  static constexpr unsigned char begin[] = {0x0f, 0x1f, 0x80, 0x78, 0x56, 0x34, 0x12};
  static constexpr unsigned char end[] = {0x0f, 0x1f, 0x80, 0x79, 0x56, 0x34, 0x12};

  if (qemu_plugin_insn_size(insn) != sizeof(begin))
    return;
  const void* const data = qemu_plugin_insn_data(insn);
  if (!std::memcmp(data, begin, sizeof(begin)))
    qemu_plugin_register_vcpu_insn_exec_cb(insn, regionBegins, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  else if (!std::memcmp(data, end, sizeof(end)))
    qemu_plugin_register_vcpu_insn_exec_cb(insn, regionEnds, QEMU_PLUGIN_CB_NO_REGS, nullptr);
}

void translated(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  const std::uint64_t address = qemu_plugin_tb_vaddr(tb);
  const std::size_t n = qemu_plugin_tb_n_insns(tb);

  // Count once per block, not per instruction: the guest runs twice as fast. A block that a fault leaves early is counted
  // as a whole; that error is far below the noise.
  qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, isKernel(address) ? &state.kernel.now : &state.user.now,
                                           n);
  if (state.profile)
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &state.blocks[address].now, n);
  for (std::size_t i = 0; i < n; ++i)
    watch(qemu_plugin_tb_get_insn(tb, i));
}

} // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("out="))
      state.out.reset(std::fopen(argv[i] + 4, "w"));
    else if (argument == "profile=on")
      state.profile = true;
  }
  if (!state.out) {
    std::fprintf(stderr, "insn_count: cannot write the file of out=FILE\n");
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
