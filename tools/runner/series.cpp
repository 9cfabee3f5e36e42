// SPDX-License-Identifier: GPL-2.0
#include "series.hpp"

#include "results.hpp"

namespace runner {

namespace {

constexpr OwnTime second = 1000;
constexpr int longest = 10; ///< times its limit a command may run

} // namespace

Series::Series(std::istream& list, int slowness, Claim claim)
    : claim_(std::move(claim)), kernelLimit_(120 * second * slowness), askedLimit_(60 * second * slowness) {
  for (std::string line; std::getline(list, line);) {
    auto f = fields(line);
    f.resize(3);
    left_.push_back({f[0], std::atoi(f[1].c_str()) * second, line});
  }
}

const Command* Series::take() {
  while (!taken_ && !left_.empty()) {
    taken_ = claim_(left_.front().name);
    if (!taken_)
      left_.pop_front();
  }
  return taken_ ? &left_.front() : nullptr;
}

OwnTime Series::guestSeconds() const {
  OwnTime sum = longest * 120;

  for (const auto& command : left_)
    sum += longest * command.limit / second + 60;
  return sum;
}

void Series::limitNext(OwnTime limit, OwnTime now) {
  limit_ = limit;
  begun_ = progress_ = now;
  printed_ = 0;
  asked_.reset();
}

/** The command has ended. */
void Series::drop() {
  left_.pop_front();
  running_ = taken_ = false;
}

void Series::boots() {
  running_ = worked_ = killed_ = false;
  limitNext(kernelLimit_, 0);
}

Series::Kind Series::line(const std::string& line, OwnTime now) {
  if (!running_ && line == "ready")
    return Kind::Ready;
  if (taken_ && line == "start " + left_.front().name) {
    running_ = worked_ = true;
    limitNext(left_.front().limit, now);
    return Kind::Start;
  }
  if (running_ && line.starts_with("end\t" + left_.front().name + "\t")) {
    result_ = line.substr(line.find('\t') + 1);
    drop();
    limitNext(kernelLimit_, now);
    return Kind::End;
  }
  return Kind::Other;
}

Series::Step Series::step(OwnTime now, std::uintmax_t printed) {
  if (printed != printed_) {
    printed_ = printed;
    progress_ = now;
  }
  if (asked_ ? now - *asked_ < askedLimit_ : now - progress_ < limit_ && now - begun_ < longest * limit_)
    return Step::Wait;
  if (running_ && !asked_) {
    asked_ = now;
    return Step::Ask;
  }
  killed_ = true;
  return Step::Kill;
}

Series::Outcome Series::ends(OwnTime now) {
  if (!running_)
    return worked_ ? Outcome::Between : Outcome::Useless;
  result_ = left_.front().name + (killed_ ? "\t124\t" : "\t125\t") + std::to_string((now - begun_) / second);
  drop();
  return Outcome::Under;
}

} // namespace runner
