// SPDX-License-Identifier: GPL-2.0
#include "profile.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <ostream>
#include <set>
#include <sstream>

#include <fnmatch.h>

#include "report.hpp"

namespace bench {
namespace {

using Address = std::uint64_t;

/** Symbol names by start address. */
class Symbols {
public:
  /** Takes a line of /proc/kallsyms: address, type, name and, in brackets, a module. */
  void addKallsyms(const std::string& line) {
    std::istringstream fields(line);
    Address address = 0;
    char type = 0;
    std::string name, module;
    if (fields >> std::hex >> address >> type >> name && (type == 't' || type == 'T' || type == 'w' || type == 'W')) {
      fields >> module;
      names_[address] = module.empty() ? name : name + " " + module;
    }
  }

  /** Takes a line of /proc/PID/maps: the file's name stands for the whole mapping. */
  void addMapping(const std::string& line) {
    std::istringstream fields(line);
    Address begin = 0;
    char dash = 0;
    std::string end, rights, offset, device, inode, file;
    if (fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> file)
      names_[begin] = "user: " + file.substr(file.rfind('/') + 1);
  }

  const std::string& name(Address address) const {
    static const std::string unknown = "?";
    const auto next = names_.upper_bound(address);
    return next == names_.begin() ? unknown : std::prev(next)->second;
  }

private:
  std::map<Address, std::string> names_;
};

/** Data about one row from the console output, apart from its results. */
struct Context {
  Symbols symbols;
  std::size_t lastRegion = 0;
};

std::map<std::string, Context> readContexts(const ProfileFiles& files) {
  Symbols kernel;
  std::ifstream symbols(files.symbols);
  if (!symbols)
    throw std::runtime_error("cannot read " + files.symbols.string());
  for (std::string line; std::getline(symbols, line);)
    if (line.find('[') == std::string::npos)
      kernel.addKallsyms(line);

  std::map<std::string, Context> contexts;
  Context* context = nullptr;
  std::size_t region = 0;
  std::ifstream console(files.console);
  GuestParser parser(false);
  for (std::string text; std::getline(console, text);) {
    while (!text.empty() && text.back() == '\r')
      text.pop_back();
    const GuestLine line = parser.feed(text);
    if (line.kind == GuestLine::Kind::Begin) {
      context = &contexts[line.row];
      context->symbols = kernel;
    } else if (line.kind == GuestLine::Kind::Result && context) {
      context->lastRegion = ++region;
    } else if (text.starts_with("symbol ") && context) {
      context->symbols.addKallsyms(text.substr(7));
    } else if (text.starts_with("map ") && context) {
      context->symbols.addMapping(text.substr(4));
    }
  }
  return contexts;
}

/** Instructions by block, for each region in the plugin's output. */
std::map<std::size_t, std::vector<std::pair<Address, std::uint64_t>>> readBlocks(const std::filesystem::path& file) {
  std::map<std::size_t, std::vector<std::pair<Address, std::uint64_t>>> regions;
  // A region's blocks follow its line.
  std::vector<std::pair<Address, std::uint64_t>>* blocks = nullptr;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string kind;
    std::size_t number = 0;
    std::pair<Address, std::uint64_t> block;
    if (line.starts_with("region ") && fields >> kind >> number)
      blocks = &regions[number];
    else if (blocks && fields >> kind >> std::hex >> block.first >> std::dec >> block.second && kind == "block")
      blocks->push_back(block);
  }
  return regions;
}

/** True for an address below the kernel's half; for those that no known mapping contains. */
constexpr bool isUser(Address address) {
  return !(address >> 63);
}

std::string share(double count, double total, double units, int decimals) {
  std::ostringstream out;
  out << std::fixed << std::setw(8) << std::setprecision(2) << 100 * count / total << " %" << std::setw(13)
      << std::setprecision(decimals) << count / units << "    ";
  return out.str();
}

} // namespace

Layers::Layers(std::istream& in) {
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line.substr(0, line.find('#')));
    std::string layer;
    if (!(fields >> layer))
      continue;
    const auto known = std::ranges::find(names_, layer);
    const auto number = static_cast<std::size_t>(known - names_.begin());
    if (known == names_.end())
      names_.push_back(layer);
    for (std::string pattern; fields >> pattern;)
      patterns_.push_back({pattern, number});
  }
  names_.emplace_back("other");
}

const std::string& Layers::of(const std::string& function) const {
  // The table's patterns have no spaces.
  std::string name = function;
  std::erase(name, ' ');
  const auto found =
      std::ranges::find_if(patterns_, [&](const Pattern& p) { return fnmatch(p.pattern.c_str(), name.c_str(), 0) == 0; });
  return found == patterns_.end() ? names_.back() : names_[found->layer];
}

std::map<std::string, LayerCosts> writeProfile(std::ostream& out, const std::vector<Row>& rows, const ProfileFiles& files,
                                               std::size_t functions, const Layers& layers) {
  const std::map<std::string, Context> contexts = readContexts(files);
  const auto blocks = readBlocks(files.counts);
  std::map<std::string, LayerCosts> costs;

  for (const RowRepeats& measured : readGuest(files.console, files.counts)) {
    const auto row = std::ranges::find(rows, measured.row, &Row::text);
    if (row == rows.end() || !measured.failure.empty() || measured.repeats.empty())
      continue;
    const Context& context = contexts.at(measured.row);
    const Repeat& repeat = measured.repeats.back();
    const Operation& operation = *row->operation;
    const double units = static_cast<double>(operation.perOctet ? repeat.octets : repeat.operations);

    std::map<std::string, double> byName, byLayer;
    double total = 0;
    if (const auto found = blocks.find(context.lastRegion); found != blocks.end())
      for (const auto& [address, instructions] : found->second) {
        const double count = static_cast<double>(instructions);
        const std::string& known = context.symbols.name(address);
        const std::string name = isUser(address) && !known.starts_with("user: ") ? "user: ?" : known;
        byName[name] += count;
        byLayer[layers.of(name)] += count;
        total += count;
      }
    std::vector<std::pair<std::string, double>> sorted(byName.begin(), byName.end());
    std::ranges::sort(sorted, std::greater{}, &std::pair<std::string, double>::second);

    const int decimals = operation.perOctet ? 4 : 1;
    out << '\n'
        << measured.row << ": " << formatValue(operation, total / units) << " instructions per " << operation.unit
        << "\n     share     per unit    layer\n";
    for (const std::string& layer : layers.names())
      if (const double count = byLayer[layer]; count > 0) {
        out << share(count, total, units, decimals) << layer << '\n';
        costs[measured.row][layer] = count / units;
      }
    out << "     share     per unit    function\n";
    for (std::size_t i = 0; i < std::min(functions, sorted.size()); ++i)
      out << share(sorted[i].second, total, units, decimals) << sorted[i].first << '\n';
  }
  return costs;
}

void writeLayersTsv(std::ostream& out, const std::map<std::string, LayerCosts>& costs) {
  std::set<std::string> layers;
  for (const auto& [row, byLayer] : costs)
    for (const auto& [layer, count] : byLayer)
      layers.insert(layer);
  out << "row" << std::fixed << std::setprecision(4);
  for (const std::string& layer : layers)
    out << '\t' << layer;
  out << '\n';
  for (const auto& [row, byLayer] : costs) {
    out << row;
    for (const std::string& layer : layers)
      if (const auto found = byLayer.find(layer); found == byLayer.end())
        out << "\t-";
      else
        out << '\t' << found->second;
    out << '\n';
  }
}

std::map<std::string, LayerCosts> readLayersTsv(const std::filesystem::path& file) {
  std::map<std::string, LayerCosts> costs;
  std::ifstream in(file);
  std::string line, row, cell;
  std::getline(in, line);
  std::istringstream heading(line);
  std::vector<std::string> layers;
  for (std::getline(heading, cell, '\t'); std::getline(heading, cell, '\t');)
    layers.push_back(cell);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::getline(cells, row, '\t');
    for (const std::string& layer : layers)
      if (std::getline(cells, cell, '\t') && cell != "-")
        costs[row][layer] = std::stod(cell);
  }
  return costs;
}

void writeLayersTable(std::ostream& out, const std::vector<Row>& rows, const std::map<std::string, LayerCosts>& costs,
                      const Layers& layers) {
  std::vector<std::string> used; // no column for a layer without costs
  std::ranges::copy_if(layers.names(), std::back_inserter(used), [&](const std::string& layer) {
    return std::ranges::any_of(costs, [&](const auto& row) { return row.second.contains(layer); });
  });
  std::vector<Line> lines{{"row"}};
  std::ranges::copy(used, std::back_inserter(lines.front()));
  lines.front().emplace_back("all");
  for (const Row& row : rows) {
    const auto found = costs.find(row.text());
    if (found == costs.end())
      continue;
    double all = 0;
    lines.push_back({row.text()});
    for (const std::string& layer : used) {
      const auto count = found->second.find(layer);
      lines.back().push_back(count == found->second.end() ? "-" : formatValue(*row.operation, count->second));
      all += count == found->second.end() ? 0 : count->second;
    }
    lines.back().push_back(formatValue(*row.operation, all));
  }
  writeFigures(out, lines);
}

} // namespace bench
