// SPDX-License-Identifier: GPL-2.0
#include "fpdu.hpp"

#include "../common/testcase.hpp"
#include "crc32c.hpp"

namespace peer {

static constexpr std::uint64_t interval = 512; /* RFC 5044 §4.3 */
static constexpr std::size_t headerLength = 2, markerLength = 4, crcLength = 4;

static std::size_t padLength(std::size_t ulpdu) {
  return (4 - (headerLength + ulpdu) % 4) % 4;
}

/* --- sending --- */

void FpduEncoder::markerIfDue(Bytes& out, const Faults& faults, bool between) {
  if (!framing_.markers || position_ % interval)
    return;

  auto pointer = static_cast<std::uint16_t>(between ? 0 : position_ - start_);
  if (faults.marker == count_)
    pointer ^= faults.markerXor;
  put<std::uint16_t>(out, faults.reserved);
  put<std::uint16_t>(out, pointer | faults.lowBits);
  position_ += markerLength;
  count_++;
}

void FpduEncoder::octet(Bytes& out, std::uint8_t value, const Faults& faults) {
  markerIfDue(out, faults, false);
  out.push_back(value);
  position_++;
}

void FpduEncoder::octets(Bytes& out, View values, const Faults& faults) {
  for (const auto value : values)
    octet(out, value, faults);
}

Bytes FpduEncoder::encode(View ulpdu, const Faults& faults) {
  Bytes out, length;

  count_ = 0;
  markerIfDue(out, faults, true);
  start_ = position_;
  put<std::uint16_t>(length, faults.length.value_or(static_cast<std::uint16_t>(ulpdu.size())));
  octets(out, length, faults);
  octets(out, ulpdu, faults);
  octets(out, Bytes(padLength(ulpdu.size()), faults.pad), faults);
  markerIfDue(out, faults, false); /* right after the pad: part of this FPDU and its CRC */

  Crc32c crc;
  crc.update(out);
  Bytes field = framing_.crc ? crc.field() : Bytes{0xde, 0xad, 0xbe, 0xef};
  if (faults.badCrc)
    field[1] ^= 0x10;
  append(out, field);
  position_ += crcLength;
  return out;
}

/* --- receiving --- */

/** Steps through buffered octets; checks and removes the Markers. */
class FpduDecoder::Walker {
public:
  Walker(const FpduDecoder& decoder) : markersOn_(decoder.framing_.markers), buffer_(decoder.buffer_), base_(decoder.position_) {}

  /** Handles the Marker before ULPDU_Length, if one is due. */
  bool begin() {
    if (due() && !marker(true))
      return false;
    start_ = at_;
    return true;
  }

  /** The next octet other than a Marker's; nothing at the end of the buffer. */
  std::optional<std::uint8_t> octet() {
    if (due() && !marker(false))
      return {};
    if (at_ == buffer_.size())
      return {};
    return buffer_[at_++];
  }

  /** Handles a Marker between pad and CRC field, which belongs to this FPDU. */
  bool trailingMarker() { return !due() || marker(false); }

  std::size_t at() const { return at_; }
  unsigned markers() const { return count_; }

private:
  bool due() const { return markersOn_ && (base_ + at_) % interval == 0; }

  bool marker(bool between) {
    if (buffer_.size() - at_ < markerLength)
      return false;
    check(get<std::uint16_t>(buffer_, at_), get<std::uint16_t>(buffer_, at_ + 2), between ? 0 : at_ - start_);
    at_ += markerLength;
    count_++;
    return true;
  }

  void check(std::uint16_t reserved, std::uint16_t pointer, std::size_t want) const {
    const auto where = static_cast<unsigned long long>(base_ + at_);

    if (reserved)
      throw ProtocolError(test::format("Marker at %llu: RESERVED is 0x%04x (MRK-01)", where, reserved));
    if (pointer % 4)
      throw ProtocolError(test::format("Marker at %llu: low bits of FPDUPTR set (MRK-02)", where));
    if (pointer != want)
      throw ProtocolError(
          test::format("Marker at %llu: FPDUPTR is %u, the FPDU starts %zu octets before (MRK-05)", where, pointer, want));
  }

  bool markersOn_;
  View buffer_;
  std::uint64_t base_;
  std::size_t at_ = 0, start_ = 0;
  unsigned count_ = 0;
};

static void checkCrc(View covered, View field, std::uint64_t position) {
  Crc32c crc;

  crc.update(covered);
  const Bytes want = crc.field();
  if (!std::equal(want.begin(), want.end(), field.begin()))
    throw ProtocolError(test::format("FPDU at %llu: CRC field is %s, want %s (CRC-01)", static_cast<unsigned long long>(position),
                                     hex(field).c_str(), hex(want).c_str()));
}

std::optional<Fpdu> FpduDecoder::next() {
  Walker walk(*this);
  if (buffer_.empty() || !walk.begin())
    return {};

  const auto high = walk.octet(), low = walk.octet();
  if (!high || !low)
    return {};
  const auto length = static_cast<std::size_t>(*high << 8 | *low);

  Fpdu fpdu;
  for (std::size_t i = 0; i < length; i++) {
    const auto octet = walk.octet();
    if (!octet)
      return {};
    fpdu.ulpdu.push_back(*octet);
  }
  for (std::size_t i = 0; i < padLength(length); i++) {
    const auto octet = walk.octet();
    if (!octet)
      return {};
    if (*octet)
      throw ProtocolError("pad octet is not zero (FRM-03)");
  }
  if (!walk.trailingMarker() || buffer_.size() - walk.at() < crcLength)
    return {};

  const View all(buffer_);
  if (framing_.crc)
    checkCrc(all.first(walk.at()), all.subspan(walk.at(), crcLength), position_);
  fpdu.position = position_;
  fpdu.wireLength = walk.at() + crcLength;
  fpdu.markers = walk.markers();
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(fpdu.wireLength));
  position_ += fpdu.wireLength;
  return fpdu;
}

std::size_t fpduLength(std::size_t ulpdu, std::uint64_t position, bool markers) {
  FpduEncoder encoder({.markers = markers, .crc = false});

  encoder.setPosition(position);
  return encoder.encode(Bytes(ulpdu)).size();
}

} // namespace peer
