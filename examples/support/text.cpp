#include "examples/support/text.hpp"
// Reads texts as numbers of words or of characters.

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

namespace examples {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    throw std::runtime_error{path + " cannot be read"};
  std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (content.empty())
    throw std::runtime_error{path + " is empty"};
  return content;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (auto c : text + ' ') {
    auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) || (c == '\'' && !word.empty()) || byte >= 128)
      word += static_cast<char>(std::tolower(byte));
    else if (!word.empty())
      words.push_back(std::exchange(word, {}));
  }
  return words;
}

} // namespace

word_text read_words(const std::string& path, size_t max_words) {
  auto words_of_file = words_of(read_all(path));
  std::map<std::string, int64_t> counts;
  for (const auto& word : words_of_file)
    ++counts[word];
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [word, count] : counts)
    order.emplace_back(-count, word);
  std::ranges::sort(order);
  order.resize(std::min(order.size(), max_words));
  word_text result;
  std::map<std::string, int32_t> number_of;
  for (const auto& [count, word] : order) {
    number_of[word] = static_cast<int32_t>(result.words.size());
    result.words.push_back(word);
  }
  for (const auto& word : words_of_file)
    if (auto entry = number_of.find(word); entry != number_of.end())
      result.numbers.push_back(entry->second);
  if (result.words.size() < 2)
    throw std::runtime_error{path + " has fewer than two different words"};
  return result;
}

character_text read_characters(const std::string& path) {
  auto content = read_all(path);
  std::array<int32_t, 256> number_of;
  number_of.fill(-1);
  for (auto c : content)
    number_of[static_cast<unsigned char>(c)] = 0;
  character_text result;
  for (size_t i = 0; i < number_of.size(); ++i)
    if (number_of[i] == 0) {
      number_of[i] = static_cast<int32_t>(result.characters.size());
      result.characters += static_cast<char>(i);
    }
  for (auto c : content)
    result.numbers.push_back(number_of[static_cast<unsigned char>(c)]);
  return result;
}

} // namespace examples
