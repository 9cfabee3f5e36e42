// SPDX-License-Identifier: GPL-2.0
#include "profile.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "report.hpp"

namespace bench {
namespace {

using Address = std::uint64_t;

/** Names by the address where what they name begins. */
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

  /** Takes a line of /proc/PID/maps: the whole mapping gets the file's name. */
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

/** What the console output tells about one row beside its results. */
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
  for (std::string text; std::getline(console, text);) {
    while (!text.empty() && text.back() == '\r')
      text.pop_back();
    const GuestLine line = parseGuestLine(text);
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

/** Instructions by block, for each region of the plugin's output. */
std::map<std::size_t, std::vector<std::pair<Address, std::uint64_t>>> readBlocks(const std::filesystem::path& file) {
  std::map<std::size_t, std::vector<std::pair<Address, std::uint64_t>>> regions;
  // The blocks come behind the line of their region.
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

} // namespace

void writeProfile(std::ostream& out, const std::vector<Row>& rows, const ProfileFiles& files, std::size_t functions) {
  const std::map<std::string, Context> contexts = readContexts(files);
  const auto blocks = readBlocks(files.counts);

  for (const RowRepeats& measured : readGuest(files.console, files.counts)) {
    const auto row = std::ranges::find(rows, measured.row, &Row::text);
    if (row == rows.end() || !measured.failure.empty() || measured.repeats.empty())
      continue;
    const Context& context = contexts.at(measured.row);
    const Repeat& repeat = measured.repeats.back();
    const Operation& operation = *row->operation;
    const double units = static_cast<double>(operation.perOctet ? repeat.octets : repeat.operations);

    std::map<std::string, std::uint64_t> byName;
    std::uint64_t total = 0;
    if (const auto found = blocks.find(context.lastRegion); found != blocks.end())
      for (const auto& [address, count] : found->second) {
        byName[context.symbols.name(address)] += count;
        total += count;
      }
    std::vector<std::pair<std::string, std::uint64_t>> sorted(byName.begin(), byName.end());
    std::ranges::sort(sorted, std::greater{}, &std::pair<std::string, std::uint64_t>::second);

    out << "\n"
        << measured.row << ": " << formatValue(operation, static_cast<double>(total) / units) << " instructions per "
        << operation.unit << "\n     share   per " << std::left << std::setw(12) << operation.unit << "function\n"
        << std::right << std::fixed;
    for (std::size_t i = 0; i < std::min(functions, sorted.size()); ++i) {
      const double count = static_cast<double>(sorted[i].second);
      out << std::setw(8) << std::setprecision(2) << 100 * count / static_cast<double>(total) << " %" << std::setw(11)
          << std::setprecision(operation.perOctet ? 4 : 1) << count / units << "      " << sorted[i].first << '\n';
    }
  }
}

} // namespace bench
