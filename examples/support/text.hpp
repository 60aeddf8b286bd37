// Texts as numbers: of words, or of characters.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// A text as numbers of its words, ordered by decreasing frequency; dropped words are left out.
struct word_text {
  std::vector<std::string> words; ///< lower case, letters and apostrophes
  std::vector<int32_t> numbers;
};

/// Reads a file and keeps the `max_words` most frequent words. Throws std::runtime_error.
word_text read_words(const std::string& path, size_t max_words);

/// A text as numbers of its characters, in the order of their bytes.
struct character_text {
  std::string characters; ///< each character that occurs, once
  std::vector<int32_t> numbers;
};

character_text read_characters(const std::string& path);

} // namespace examples
