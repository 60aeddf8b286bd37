#include "troupe/api/cli/safe_output.hpp"
// Escapes what commands print.

#include "troupe/runtime/types/printable.hpp"

namespace troupe::cli {

printable_buffer::~printable_buffer() { pass(true); }

void printable_buffer::pass(bool flush) {
  auto held_bytes = flush ? 0 : incomplete_tail(waiting_);
  auto text = printable_lines(std::string_view{waiting_}.substr(0, waiting_.size() - held_bytes));
  waiting_.erase(0, waiting_.size() - held_bytes);
  to_.sputn(text.data(), static_cast<std::streamsize>(text.size()));
}

void printable_buffer::write_raw(std::string_view text) {
  pass(true);
  to_.sputn(text.data(), static_cast<std::streamsize>(text.size()));
}

printable_buffer::int_type printable_buffer::overflow(int_type c) {
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    waiting_ += traits_type::to_char_type(c);
    pass(false);
  }
  return traits_type::not_eof(c);
}

std::streamsize printable_buffer::xsputn(const char* text, std::streamsize count) {
  waiting_.append(text, static_cast<size_t>(count));
  pass(false);
  return count;
}

int printable_buffer::sync() { return to_.pubsync(); }

std::ostream& clear_screen(std::ostream& out) {
  constexpr std::string_view codes = "\033[H\033[J";
  if (auto* safe = dynamic_cast<printable_buffer*>(out.rdbuf()))
    safe->write_raw(codes);
  else
    out << codes;
  return out;
}

} // namespace troupe::cli
