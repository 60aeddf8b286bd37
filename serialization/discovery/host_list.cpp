#include "troupe/serialization/discovery/host_list.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace troupe {
namespace {

constexpr size_t max_digits = 9, max_host_name = 200;

// Parses a number without a sign; leading zeros are allowed.
std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.size() > max_digits || text[0] == '-' || problem != std::errc{} ||
      end != text.data() + text.size())
    return {};
  return number;
}

std::string padded(int number, size_t width) {
  auto text = std::to_string(number);
  return std::string(text.size() < width ? width - text.size() : 0, '0') + text;
}

// Expands the text within a bracket: "01-03,7".
result<std::vector<std::string>> expand_ranges(std::string_view text, size_t max_hosts) {
  std::vector<std::string> numbers;
  for (;;) {
    auto comma = text.find(',');
    auto range = text.substr(0, comma);
    auto dash = range.find('-');
    auto first = parse_number(range.substr(0, dash));
    auto last = dash == range.npos ? first : parse_number(range.substr(dash + 1));
    if (!first || !last || *last < *first)
      return invalid("'", range, "' is not a range of numbers");
    if (static_cast<size_t>(*last - *first) >= max_hosts - std::min(max_hosts, numbers.size()))
      return invalid("there are more than ", max_hosts, " hosts");
    auto width = std::min(range.size(), dash);
    for (auto i = *first; i <= *last; ++i)
      numbers.push_back(padded(i, width));
    if (comma == text.npos)
      return numbers;
    text.remove_prefix(comma + 1);
  }
}

// Expands one entry of the list, which may have several brackets.
result<std::vector<std::string>> expand_entry(std::string_view text, size_t max_hosts) {
  std::vector<std::string> hosts{""};
  while (!text.empty()) {
    auto open = text.find('[');
    auto plain = text.substr(0, open);
    if (plain.find_first_of("] \t\r\n/:") != plain.npos)
      return invalid("'", plain, "' is not a valid name of a host");
    if (hosts.front().size() + plain.size() > max_host_name)
      return invalid("names of hosts have at most ", max_host_name, " characters");
    for (auto& host : hosts)
      host += plain;
    text.remove_prefix(std::min(plain.size(), text.size()));
    if (open == text.npos || text.empty())
      break;
    auto close = text.find(']');
    if (close == text.npos)
      return invalid("a bracket is not closed");
    TROUPE_ASSIGN(auto numbers, expand_ranges(text.substr(1, close - 1), max_hosts));
    text.remove_prefix(close + 1);
    if (numbers.size() > max_hosts / hosts.size())
      return invalid("there are more than ", max_hosts, " hosts");
    std::vector<std::string> product;
    product.reserve(hosts.size() * numbers.size());
    for (const auto& host : hosts)
      for (const auto& number : numbers)
        product.push_back(host + number);
    hosts = std::move(product);
  }
  if (hosts.front().empty())
    return invalid("a host without a name");
  return hosts;
}

} // namespace

result<std::vector<std::string>> expand_host_list(std::string_view text, size_t max_hosts) {
  std::vector<std::string> hosts;
  auto quoted = text.substr(0, 80);
  for (;;) {
    size_t end = 0;
    for (int depth = 0; end < text.size() && (text[end] != ',' || depth > 0); ++end)
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
    auto entry = expand_entry(text.substr(0, end), max_hosts);
    if (!entry)
      return entry.status().with_context(concat("the host list '", quoted, "'"));
    if (entry->size() > max_hosts - hosts.size())
      return invalid("the host list '", quoted, "': there are more than ", max_hosts, " hosts");
    hosts.insert(hosts.end(), entry->begin(), entry->end());
    if (end == text.size())
      return hosts;
    text.remove_prefix(end + 1);
  }
}

result<std::vector<int>> expand_counts(std::string_view text, size_t max_counts) {
  std::vector<int> counts;
  for (auto full_text = text;;) {
    auto comma = text.find(',');
    auto word = text.substr(0, comma);
    auto bracket = word.find("(x");
    auto count = parse_number(word.substr(0, bracket));
    auto times = std::optional<int>{1};
    if (bracket != word.npos)
      times = word.ends_with(')')
                  ? parse_number(word.substr(bracket + 2, word.size() - bracket - 3))
                  : std::nullopt;
    if (!count || !times || *count < 1 || *times < 1)
      return invalid("'", full_text.substr(0, 80), "' is not a list of counts such as 2(x3),1");
    if (static_cast<size_t>(*times) > max_counts - counts.size())
      return invalid("'", full_text.substr(0, 80), "' has more than ", max_counts, " counts");
    counts.insert(counts.end(), static_cast<size_t>(*times), *count);
    if (comma == text.npos)
      return counts;
    text.remove_prefix(comma + 1);
  }
}

} // namespace troupe
