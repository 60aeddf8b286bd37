// What commands print, as a terminal may show it.
#pragma once
#include <ostream>
#include <streambuf>
#include <string>

namespace troupe::cli {

/// Passes text on to another buffer with all that is not printable escaped, but for line breaks and
/// tabs (runtime/types/printable.hpp): names and texts of files and peers cannot steer a terminal.
class printable_buffer final : public std::streambuf {
public:
  explicit printable_buffer(std::streambuf& to) noexcept : to_(to) {}
  /// Passes on what is left.
  ~printable_buffer() override;

  /// Writes to the other buffer as it is, after all before.
  void write_raw(std::string_view text);

protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

private:
  void pass(bool all);

  std::streambuf& to_;
  std::string waiting_; // the beginning of a character
};

/// Makes a stream print through such a buffer as long as this lives.
class safe_output {
public:
  explicit safe_output(std::ostream& of)
      : of_(of), buffer_(*of.rdbuf()), before_(of.rdbuf(&buffer_)) {}
  safe_output(const safe_output&) = delete;
  safe_output& operator=(const safe_output&) = delete;
  ~safe_output() { of_.rdbuf(before_); }

private:
  std::ostream& of_;
  printable_buffer buffer_;
  std::streambuf* before_;
};

/// Puts the cursor of a terminal to the upper left corner, and clears all.
std::ostream& clear_screen(std::ostream& out);

} // namespace troupe::cli
