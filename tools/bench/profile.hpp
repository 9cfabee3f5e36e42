// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Distributes the instructions of a row: per function of the kernel, per mapped file of user space.
 */
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "results.hpp"

namespace bench {

/** The files that one guest leaves behind when it is profiled. */
struct ProfileFiles {
  std::filesystem::path console; ///< the guest's output: rows, its modules' symbols and the programs' mappings
  std::filesystem::path counts;  ///< the plugin's output with blocks
  std::filesystem::path symbols; ///< the kernel's own symbols, as in /proc/kallsyms
};

/** Finds a function's layer: the first line of the table with a pattern that matches the name. */
class Layers {
public:
  /** Reads a table: each line has a layer and shell patterns; `#` begins a comment. */
  explicit Layers(std::istream& in);

  /** @param function "name", "name [module]" or "user: file" */
  const std::string& of(const std::string& function) const;

  /** The layers in the order of the table; the last is for functions that match no pattern. */
  const std::vector<std::string>& names() const { return names_; }

private:
  struct Pattern {
    std::string pattern;
    std::size_t layer;
  };
  std::vector<std::string> names_;
  std::vector<Pattern> patterns_;
};

/** Instructions per unit of a row, by layer. */
using LayerCosts = std::map<std::string, double>;

/**
 * Writes the profile of the last repeat of every row of a guest: by layer, and by function.
 * @param functions how many functions to list
 * @return the layers' costs, by row
 */
std::map<std::string, LayerCosts> writeProfile(std::ostream& out, const std::vector<Row>& rows, const ProfileFiles& files,
                                               std::size_t functions, const Layers& layers);

/** One line per row, one column per layer. */
void writeLayersTsv(std::ostream& out, const std::map<std::string, LayerCosts>& costs);
/** Reads the output of writeLayersTsv(); a missing file is an empty table. */
std::map<std::string, LayerCosts> readLayersTsv(const std::filesystem::path& file);

/** A table in Markdown: one line per row that has costs, one column per layer. */
void writeLayersTable(std::ostream& out, const std::vector<Row>& rows, const std::map<std::string, LayerCosts>& costs,
                      const Layers& layers);

} // namespace bench
