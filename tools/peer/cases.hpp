// SPDX-License-Identifier: GPL-2.0
/** @file cases.hpp @brief The tables of cases. */
#pragma once

#include <span>

#include "session.hpp"

namespace peer {

enum Roles : unsigned { asInitiator = 1, asResponder = 2, asBoth = 3 };

/** One case. It runs in each of its roles that the command line allows. */
struct WireCase {
  const char* name;
  Roles roles;       /**< of the peer */
  const char* shows; /**< requirement IDs */
  const char* what;
  void (*run)(Context&);
  const char* alone = nullptr; /**< the IDs that it shows without a program's help on the device; nullptr: none */
};

std::span<const WireCase> startupCases();
std::span<const WireCase> enhancedCases();
std::span<const WireCase> profileCases();
std::span<const WireCase> rdmacCases();
std::span<const WireCase> largeCases();
std::span<const WireCase> earlyCases();
std::span<const WireCase> segmentCases();
std::span<const WireCase> framingCases();
std::span<const WireCase> ddpCases();
std::span<const WireCase> lateCases();
std::span<const WireCase> rdmapCases();
std::span<const WireCase> teardownCases();

/** All cases. */
inline std::vector<WireCase> allCases() {
  return test::joined({startupCases(), enhancedCases(), profileCases(), rdmacCases(), largeCases(), earlyCases(), segmentCases(),
                       framingCases(), ddpCases(), lateCases(), rdmapCases(), teardownCases()});
}

/** Skips the running case when both sides have C=0. */
inline void needCrc(const Session& s) {
  if (!s.local.crc && !s.remote.crc)
    throw test::Skip("CRCs are off");
}

/* Terminate codes, RFC 5040 §4.8, RFC 5041 §7.2, RFC 5044 §8 with RFC 6581 §8. */
namespace term {
inline constexpr TermCode readStag{0, 1, 0x00}, readBounds{0, 1, 0x01}, readRights{0, 1, 0x02}, readOtherStream{0, 1, 0x03},
    readWrap{0, 1, 0x04}, cannotInvalidate{0, 1, 0x09}, rdmapVersion{0, 2, 0x05}, opcode{0, 2, 0x06}, streamCatastrophe{0, 2, 0x07},
    unspecified{0, 2, 0xff};
inline constexpr TermCode ddpCatastrophe{1, 0, 0x00}, taggedStag{1, 1, 0x00}, taggedBounds{1, 1, 0x01},
    taggedOtherStream{1, 1, 0x02}, taggedWrap{1, 1, 0x03}, taggedVersion{1, 1, 0x04}, queue{1, 2, 0x01}, noBuffer{1, 2, 0x02},
    msnRange{1, 2, 0x03}, offset{1, 2, 0x04}, tooLong{1, 2, 0x05}, untaggedVersion{1, 2, 0x06};
inline constexpr TermCode crc{2, 0, 0x02}, marker{2, 0, 0x03}, startupLocal{2, 0, 0x05}, startupIrd{2, 0, 0x06},
    startupRtr{2, 0, 0x07};
inline constexpr TermCode rdmapLocal{0, 0, 0x00};
} // namespace term

} // namespace peer
