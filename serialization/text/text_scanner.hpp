// Reads words, numbers and tensor literals of a text graph; errors say where and what was expected.
#pragma once
#include "troupe/runtime/types/attr.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Blanks before what is read are skipped; inside brackets line ends and comments are blanks, too.
class text_scanner {
public:
  text_scanner(std::string_view text, std::string_view file, size_t literal_bytes)
      : text_(text), file_(file), literal_bytes_(literal_bytes) {}

  /// Moves to the next statement; false at the end of the text.
  bool next_statement();
  /// Moves to the end of the line.
  void skip_line();
  /// Requires that nothing but a comment follows on this line.
  status end_statement();

  size_t position();             ///< of what comes next
  void back_to(size_t position); ///< only to where no bracket was open
  int line_of(size_t position) const noexcept;

  bool at(char wanted);
  bool take(char wanted); ///< takes it if it comes next
  status expect(char wanted, std::string_view what);
  bool take_word(std::string_view word); ///< a whole word, if it comes next

  /// A node's, op's or attribute's name, or a keyword. `what` says what was expected.
  result<std::string> name(std::string_view what);
  result<std::string> quoted();
  result<int64_t> integer();
  result<double> real();
  result<bool> boolean();
  result<dtype> type();
  /// `[`, items separated by commas, `]`.
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

  /// Says whether a literal comes next: a type with a bracket behind it.
  bool at_literal();
  result<tensor> literal();

  /// A value for an attribute of that kind.
  result<attr_value> attr(attr_kind kind);
  result<partial_shape> partial(); ///< `[2,-1]`, or `?` for an unknown rank

  /// The error that something else than `expected` comes next.
  status unexpected(std::string_view expected);
  /// `file:line:column`.
  std::string place(size_t position) const;
  template <class... Ts>
  status error_at(size_t position_, const Ts&... parts) const {
    return invalid(place(position_), ": ", parts...);
  }

private:
  friend class literal_reader;

  void skip_blanks();
  std::string_view word(); // may be empty

  std::string_view text_, file_;
  size_t at_ = 0;
  int depth_ = 0; // of open brackets
  size_t literal_bytes_;
  // How many lines end before a position: statements ask in order, and the text may be long.
  mutable size_t counted_to_ = 0;
  mutable int lines_counted_ = 0;
};

} // namespace troupe
