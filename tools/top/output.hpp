// SPDX-License-Identifier: GPL-2.0
/**
 * @file output.hpp
 * @brief Formats a change as lines for readers, as JSON, as CSV, for Prometheus.
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
/** One row for each counter of a device and for each property of a connection. */
std::vector<std::string> csv(const Change& change);

/** Prometheus' text format: each counter of all devices, the open connections of each device, and whether its port is active. */
std::vector<std::string> prometheus(const Sample& sample);

/** At most six characters: 999, 1.50k, 12.3M; a dash for an unknown value. */
std::string human(std::optional<double> value);

} // namespace top
