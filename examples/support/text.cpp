#include "examples/support/text.hpp"

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
  std::string all{std::istreambuf_iterator<char>{file}, {}};
  if (all.empty())
    throw std::runtime_error{path + " is empty"};
  return all;
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

word_text read_words(const std::string& path, size_t most) {
  auto all = words_of(read_all(path));
  std::map<std::string, int64_t> counts;
  for (const auto& one : all)
    ++counts[one];
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [word, count] : counts)
    order.emplace_back(-count, word);
  std::ranges::sort(order);
  order.resize(std::min(order.size(), most));
  word_text made;
  std::map<std::string, int32_t> number_of;
  for (const auto& [count, word] : order) {
    number_of[word] = static_cast<int32_t>(made.words.size());
    made.words.push_back(word);
  }
  for (const auto& one : all)
    if (auto it = number_of.find(one); it != number_of.end())
      made.numbers.push_back(it->second);
  if (made.words.size() < 2)
    throw std::runtime_error{path + " has no two words"};
  return made;
}

character_text read_characters(const std::string& path) {
  auto all = read_all(path);
  std::array<int32_t, 256> number_of;
  number_of.fill(-1);
  for (auto c : all)
    number_of[static_cast<unsigned char>(c)] = 0;
  character_text made;
  for (size_t i = 0; i < number_of.size(); ++i)
    if (number_of[i] == 0) {
      number_of[i] = static_cast<int32_t>(made.characters.size());
      made.characters += static_cast<char>(i);
    }
  for (auto c : all)
    made.numbers.push_back(number_of[static_cast<unsigned char>(c)]);
  return made;
}

} // namespace examples
