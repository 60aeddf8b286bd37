// Output of commands with unprintable characters escaped.
#pragma once
#include <ostream>
#include <streambuf>
#include <string>

namespace troupe::cli {

/// Passes text on to another buffer, with all unprintable characters escaped except line breaks and
/// tabs (runtime/types/printable.hpp): names and texts of files and peers cannot control a
/// terminal.
class printable_buffer final : public std::streambuf {
public:
  explicit printable_buffer(std::streambuf& to) noexcept : to_(to) {}
  /// Passes on the remaining text.
  ~printable_buffer() override;

  /// Writes to the other buffer without escaping, after all earlier text.
  void write_raw(std::string_view text);

protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

private:
  void pass(bool flush);

  std::streambuf& to_;
  std::string waiting_; // an incomplete character
};

/// Makes a stream print through a printable_buffer during its lifetime.
class safe_output {
public:
  explicit safe_output(std::ostream& stream)
      : stream_(stream), buffer_(*stream.rdbuf()), original_(stream.rdbuf(&buffer_)) {}
  safe_output(const safe_output&) = delete;
  safe_output& operator=(const safe_output&) = delete;
  ~safe_output() { stream_.rdbuf(original_); }

private:
  std::ostream& stream_;
  printable_buffer buffer_;
  std::streambuf* original_;
};

/// Moves the cursor of a terminal to the upper left corner, and clears the screen.
std::ostream& clear_screen(std::ostream& out);

} // namespace troupe::cli
