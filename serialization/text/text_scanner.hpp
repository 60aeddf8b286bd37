// Reads words, numbers and tensor literals of a text graph. Errors state the position and the
// expected token.
#pragma once
#include "troupe/runtime/types/attr.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Every reader skips blanks first. Within brackets, line ends and comments are blanks, too.
class text_scanner {
public:
  text_scanner(std::string_view text, std::string_view file, size_t literal_bytes)
      : text_(text), file_(file), literal_bytes_(literal_bytes) {}

  /// Moves to the next statement; returns false at the end of the text.
  bool next_statement();
  /// Moves to the end of the line.
  void skip_line();
  /// Fails unless the rest of this line is empty or a comment.
  status end_statement();

  size_t position();             ///< of the next token
  void back_to(size_t position); ///< the position must be outside of all brackets
  int line_of(size_t position) const noexcept;

  bool at(char wanted);   ///< whether this character is next
  bool take(char wanted); ///< consumes this character if it is next
  status expect(char wanted, std::string_view expected);
  bool take_word(std::string_view word); ///< consumes this whole word if it is next

  /// Reads the name of a node, op or attribute, or a keyword. `expected` describes it in errors.
  result<std::string> name(std::string_view expected);
  result<std::string> quoted();
  result<int64_t> integer();
  result<double> real();
  result<bool> boolean();
  result<dtype> type();
  /// Reads `[`, items separated by commas, `]`.
  template <class Item>
  status list(Item&& item) {
    TROUPE_TRY(expect('[', "'['"));
    if (take(']'))
      return {};
    do
      TROUPE_TRY(item());
    while (take(','));
    return expect(']', "',' or ']'");
  }

  /// Returns whether a literal is next: a type followed by a bracket.
  bool at_literal();
  result<tensor> literal();

  /// Reads a value for an attribute of this kind.
  result<attr_value> attr(attr_kind kind);
  result<partial_shape> partial(); ///< `[2,-1]`, or `?` for an unknown rank

  /// Makes the error that the next token is not `expected`.
  status unexpected(std::string_view expected);
  /// Formats a position as `file:line:column`.
  std::string place(size_t position) const;
  template <class... Ts>
  status error_at(size_t position, const Ts&... parts) const {
    return invalid(place(position), ": ", parts...);
  }

private:
  friend class literal_reader;

  void skip_blanks();
  std::string_view word(); // empty if the next character is not of a word

  std::string_view text_, file_;
  size_t at_ = 0;
  int depth_ = 0; // of open brackets
  size_t literal_bytes_;
  // A cache for line_of(): the lines that end before counted_to_. Positions mostly ascend.
  mutable size_t counted_to_ = 0;
  mutable int lines_counted_ = 0;
};

} // namespace troupe
