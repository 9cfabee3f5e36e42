// SPDX-License-Identifier: GPL-2.0
/**
 * @file output.hpp
 * @brief A change as lines for people, as JSON, as CSV.
 */
#pragma once

#include "model.hpp"

namespace top {

/** Two tables: devices, each with its errors, and connections. */
std::vector<std::string> lines(const Change& change);

/** One object. */
Json json(const Change& change);

/** The names of CSV's columns. */
inline constexpr auto csvHeader = "time,device,qp,name,value,rate";
/** A row for each counter of a device and for all that is known of a connection. */
std::vector<std::string> csv(const Change& change);

/** At most six characters: 999, 1.50k, 12.3M. A dash where nothing is known. */
std::string human(std::optional<double> value);

} // namespace top
