#include "troupe/serialization/discovery/host_list.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace troupe {
namespace {

constexpr size_t max_digits = 9, max_host_name = 200;

// Numbers with leading zeros keep their width.
std::optional<int> digits(std::string_view text) {
  int found = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (text.empty() || text.size() > max_digits || text[0] == '-' || problem != std::errc{} ||
      end != text.data() + text.size())
    return {};
  return found;
}

std::string padded(int number, size_t width) {
  auto text = std::to_string(number);
  return std::string(text.size() < width ? width - text.size() : 0, '0') + text;
}

// What a bracket stands for: "01-03,7".
result<std::vector<std::string>> expand_ranges(std::string_view text, size_t most) {
  std::vector<std::string> made;
  for (;;) {
    auto comma = text.find(',');
    auto range = text.substr(0, comma);
    auto dash = range.find('-');
    auto first = digits(range.substr(0, dash));
    auto last = dash == range.npos ? first : digits(range.substr(dash + 1));
    if (!first || !last || *last < *first)
      return invalid("'", range, "' is no range of numbers");
    if (static_cast<size_t>(*last - *first) >= most - std::min(most, made.size()))
      return invalid("there are more than ", most, " hosts");
    auto width = std::min(range.size(), dash);
    for (auto i = *first; i <= *last; ++i)
      made.push_back(padded(i, width));
    if (comma == text.npos)
      return made;
    text.remove_prefix(comma + 1);
  }
}

// One entry of the list, which may have several brackets.
result<std::vector<std::string>> expand_entry(std::string_view text, size_t most) {
  std::vector<std::string> made{""};
  while (!text.empty()) {
    auto open = text.find('[');
    auto plain = text.substr(0, open);
    if (plain.find_first_of("] \t\r\n/:") != plain.npos)
      return invalid("'", plain, "' is no name of a host");
    if (made.front().size() + plain.size() > max_host_name)
      return invalid("names of hosts have at most ", max_host_name, " characters");
    for (auto& one : made)
      one += plain;
    text.remove_prefix(std::min(plain.size(), text.size()));
    if (open == text.npos || text.empty())
      break;
    auto close = text.find(']');
    if (close == text.npos)
      return invalid("a bracket is not closed");
    TROUPE_ASSIGN(auto numbers, expand_ranges(text.substr(1, close - 1), most));
    text.remove_prefix(close + 1);
    if (numbers.size() > most / made.size())
      return invalid("there are more than ", most, " hosts");
    std::vector<std::string> product;
    product.reserve(made.size() * numbers.size());
    for (const auto& one : made)
      for (const auto& number : numbers)
        product.push_back(one + number);
    made = std::move(product);
  }
  if (made.front().empty())
    return invalid("a host without a name");
  return made;
}

} // namespace

result<std::vector<std::string>> expand_host_list(std::string_view text, size_t most) {
  std::vector<std::string> made;
  auto quoted = text.substr(0, 80);
  for (;;) {
    size_t end = 0;
    for (int depth = 0; end < text.size() && (text[end] != ',' || depth > 0); ++end)
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
    auto entry = expand_entry(text.substr(0, end), most);
    if (!entry)
      return entry.status().within(concat("the host list '", quoted, "'"));
    if (entry->size() > most - made.size())
      return invalid("the host list '", quoted, "': there are more than ", most, " hosts");
    made.insert(made.end(), entry->begin(), entry->end());
    if (end == text.size())
      return made;
    text.remove_prefix(end + 1);
  }
}

result<std::vector<int>> expand_counts(std::string_view text, size_t most) {
  std::vector<int> made;
  for (auto all = text;;) {
    auto comma = text.find(',');
    auto word = text.substr(0, comma);
    auto bracket = word.find("(x");
    auto count = digits(word.substr(0, bracket));
    auto times = std::optional<int>{1};
    if (bracket != word.npos)
      times = word.ends_with(')') ? digits(word.substr(bracket + 2, word.size() - bracket - 3))
                                  : std::nullopt;
    if (!count || !times || *count < 1 || *times < 1)
      return invalid("'", all.substr(0, 80), "' is no list of counts such as 2(x3),1");
    if (static_cast<size_t>(*times) > most - made.size())
      return invalid("'", all.substr(0, 80), "' has more than ", most, " counts");
    made.insert(made.end(), static_cast<size_t>(*times), *count);
    if (comma == text.npos)
      return made;
    text.remove_prefix(comma + 1);
  }
}

} // namespace troupe
