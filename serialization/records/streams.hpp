// Files as streams of bytes, compressed or not.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"

#include <optional>

namespace troupe {

enum class compression : uint8_t {
  none,
  gzip,
  zlib,
  automatic, ///< only for reading: gzip if the file begins like it, else none
};

/// "none", "gzip", "zlib", "automatic"; nothing for other texts.
std::optional<compression> compression_from(std::string_view name) noexcept;

/// Reads a file from one place to the next.
class input_stream {
public:
  static result<input_stream> open(file_system& files, const std::string& path,
                                   compression kind = compression::none);
  input_stream(input_stream&&) noexcept;
  ~input_stream();

  const std::string& path() const noexcept;
  /// Of the next byte, without compression.
  uint64_t offset() const noexcept;
  /// How many bytes follow, if the file is not compressed.
  std::optional<uint64_t> left() const noexcept;

  /// What has been read already and comes next: at least one byte, but at the end of the file.
  /// Fails with data_loss if what is compressed is damaged, and with out_of_range if its end is
  /// missing.
  result<std::string_view> ahead();
  /// Steps over that many bytes of ahead().
  void skip(size_t bytes) noexcept;

  /// Appends so many bytes, or fewer if the file ends before. Takes memory as bytes come.
  status read(uint64_t bytes, std::string& to);

  /// Fails with out_of_range behind the end.
  status seek(uint64_t offset);

private:
  struct state;
  explicit input_stream(std::unique_ptr<state> made);
  std::unique_ptr<state> state_;
};

/// Writes a file from its beginning to its end.
class output_stream {
public:
  static result<output_stream> create(file_system& files, const std::string& path,
                                      compression kind = compression::none);
  output_stream(output_stream&&) noexcept;
  output_stream& operator=(output_stream&&) noexcept;
  ~output_stream(); ///< what was not flushed is lost

  const std::string& path() const noexcept;
  uint64_t offset() const noexcept; ///< how much was written, before compression
  status write(std::string_view bytes);
  /// Hands all that was written to the system, so that others can read it.
  status flush();
  /// flush(), and makes it durable.
  status sync();
  /// Ends what is compressed, and syncs. Nothing can be written behind it.
  status finish();

private:
  struct state;
  explicit output_stream(std::unique_ptr<state> made);
  std::unique_ptr<state> state_;
};

} // namespace troupe
