#include "troupe/serialization/text/text_scanner.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-';
}

bool is_open(char c) { return c == '(' || c == '[' || c == '{'; }
bool is_close(char c) { return c == ')' || c == ']' || c == '}'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

} // namespace

void text_scanner::skip_blanks() {
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '#' && depth_ > 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size())
        return;
    } else if (c != ' ' && c != '\t' && c != '\r' && !(c == '\n' && depth_ > 0)) {
      return;
    }
  }
}

bool text_scanner::next_statement() {
  depth_ = 0;
  for (;;) {
    skip_blanks();
    if (at_ == text_.size())
      return false;
    if (text_[at_] != '\n' && text_[at_] != '#')
      return true;
    skip_line();
  }
}

void text_scanner::skip_line() {
  auto end = text_.find('\n', at_);
  at_ = end == text_.npos ? text_.size() : end + 1;
}

status text_scanner::end_statement() {
  skip_blanks();
  if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '#')
    return unexpected("the end of the line");
  return {};
}

size_t text_scanner::position() {
  skip_blanks();
  return at_;
}

void text_scanner::back_to(size_t position) {
  at_ = position;
  depth_ = 0;
}

int text_scanner::line_of(size_t position) const noexcept {
  if (position < counted_to_)
    counted_to_ = 0, lines_counted_ = 0;
  auto uncounted = text_.substr(counted_to_, position - counted_to_);
  lines_counted_ += static_cast<int>(std::count(uncounted.begin(), uncounted.end(), '\n'));
  counted_to_ = position;
  return 1 + lines_counted_;
}

std::string text_scanner::place(size_t position) const {
  auto before = text_.substr(0, position);
  auto line_end = before.rfind('\n');
  auto column = position - (line_end == before.npos ? 0 : line_end + 1) + 1;
  return concat(file_, ':', line_of(position), ':', column);
}

bool text_scanner::at(char wanted) {
  skip_blanks();
  return at_ < text_.size() && text_[at_] == wanted;
}

bool text_scanner::take(char wanted) {
  if (!at(wanted))
    return false;
  ++at_;
  if (is_open(wanted))
    ++depth_;
  if (is_close(wanted) && depth_ > 0)
    --depth_;
  return true;
}

status text_scanner::expect(char wanted, std::string_view expected) {
  return take(wanted) ? status{} : unexpected(expected);
}

status text_scanner::unexpected(std::string_view expected) {
  skip_blanks();
  auto start = at_;
  std::string actual = "the end of the text";
  if (at_ < text_.size()) {
    auto next = word();
    if (next.empty())
      next = text_.substr(start, 1);
    auto printable =
        std::all_of(next.begin(), next.end(), [](char c) { return c >= ' ' && c <= '~'; });
    actual = text_[start] == '\n' ? "the end of the line"
             : printable
                 ? concat('\'', next.substr(0, 40), '\'')
                 : concat("byte ", static_cast<int>(static_cast<unsigned char>(text_[start])));
  }
  at_ = start;
  return error_at(start, "expected ", expected, ", got ", actual);
}

std::string_view text_scanner::word() {
  skip_blanks();
  auto start = at_;
  while (at_ < text_.size() && is_word_character(text_[at_]))
    ++at_;
  return text_.substr(start, at_ - start);
}

bool text_scanner::take_word(std::string_view wanted) {
  skip_blanks();
  auto start = at_;
  if (word() == wanted)
    return true;
  at_ = start;
  return false;
}

result<std::string> text_scanner::name(std::string_view expected) {
  auto next = word();
  if (next.empty())
    return unexpected(expected);
  return std::string{next};
}

result<std::string> text_scanner::quoted() {
  if (!at('"'))
    return unexpected("text in double quotes");
  auto start = at_++;
  std::string value;
  for (; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
    char c = text_[at_];
    if (c == '\\') {
      c = ++at_ < text_.size() ? text_[at_] : '\0';
      switch (c) {
        case 'n': c = '\n'; break;
        case 't': c = '\t'; break;
        case '"':
        case '\\': break;
        case 'x': {
          auto high = at_ + 2 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
          auto low = at_ + 2 < text_.size() ? hex_digit(text_[at_ + 2]) : -1;
          if (high < 0 || low < 0)
            return error_at(at_ - 1, "expected two hexadecimal digits after \\x");
          c = static_cast<char>(high * 16 + low);
          at_ += 2;
          break;
        }
        default: return error_at(at_ - 1, R"(expected \n, \t, \", \\ or \xHH)");
      }
    }
    value.push_back(c);
  }
  if (at_ >= text_.size() || text_[at_] != '"')
    return error_at(start, "the text in quotes has no end on its line");
  ++at_;
  return value;
}

result<int64_t> text_scanner::integer() {
  auto start = position();
  auto digits = word();
  int64_t value = 0;
  auto end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range)
    return error_at(start, "the integer ", digits.substr(0, 40), " needs more than 64 bits");
  if (digits.empty() || error != std::errc{} || stop != end) {
    at_ = start;
    return unexpected("an integer");
  }
  return value;
}

result<double> text_scanner::real() {
  auto start = position();
  auto digits = word();
  // A '+' occurs only in an exponent, 1e+3, and is not a word character.
  if ((digits.ends_with('e') || digits.ends_with('E')) && at_ < text_.size() && text_[at_] == '+') {
    ++at_;
    word();
    digits = text_.substr(start, at_ - start);
  }
  double value = 0;
  auto end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range)
    return error_at(start, "the number ", digits.substr(0, 40), " does not fit f64");
  if (digits.empty() || error != std::errc{} || stop != end) {
    at_ = start;
    return unexpected("a number");
  }
  return value;
}

result<bool> text_scanner::boolean() {
  if (take_word("true"))
    return true;
  if (take_word("false"))
    return false;
  return unexpected("true or false");
}

result<dtype> text_scanner::type() {
  auto start = position();
  if (auto named_type = dtype_from(word()); named_type && *named_type != dtype::none)
    return *named_type;
  at_ = start;
  return unexpected("a type, such as f32");
}

bool text_scanner::at_literal() {
  auto start = position();
  auto is_type = dtype_from(word()).value_or(dtype::none) != dtype::none;
  auto is_literal = is_type && (at('[') || at('(') || at('{'));
  at_ = start;
  return is_literal;
}

} // namespace troupe
