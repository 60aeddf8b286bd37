// Files as streams of bytes, compressed or not.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"

#include <optional>

namespace troupe {

enum class compression : uint8_t {
  none,
  gzip,
  zlib,
  automatic, ///< only for reading: gzip if the file has its magic number, else none
};

/// Parses "none", "gzip", "zlib" or "automatic"; returns nullopt for other texts.
std::optional<compression> compression_from(std::string_view name) noexcept;

/// Reads a file sequentially, and decompresses it.
class input_stream {
public:
  static result<input_stream> open(file_system& files, const std::string& path,
                                   compression kind = compression::none);
  input_stream(input_stream&&) noexcept;
  ~input_stream();

  const std::string& path() const noexcept;
  /// The offset of the next byte in the uncompressed stream.
  uint64_t offset() const noexcept;
  /// The number of unread bytes; nullopt if the file is compressed.
  std::optional<uint64_t> left() const noexcept;

  /// Returns the next bytes without consuming them: at least one, except at the end of the file.
  /// Fails with data_loss if the compressed data is damaged, and with out_of_range if its end is
  /// missing.
  result<std::string_view> ahead();
  /// Consumes `bytes` bytes of ahead().
  void skip(size_t bytes) noexcept;

  /// Appends `bytes` bytes to `target`, or fewer if the file ends before. Memory grows with the
  /// bytes that arrive, not with `bytes`.
  status read(uint64_t bytes, std::string& target);

  /// Fails with out_of_range for an offset past the end.
  status seek(uint64_t offset);

private:
  struct state;
  explicit input_stream(std::unique_ptr<state> opened);
  std::unique_ptr<state> state_;
};

/// Writes a file sequentially, and compresses it.
class output_stream {
public:
  static result<output_stream> create(file_system& files, const std::string& path,
                                      compression kind = compression::none);
  output_stream(output_stream&&) noexcept;
  output_stream& operator=(output_stream&&) noexcept;
  ~output_stream(); ///< drops bytes that were not flushed

  const std::string& path() const noexcept;
  uint64_t offset() const noexcept; ///< bytes that were written, before compression
  status write(std::string_view bytes);
  /// Passes all written bytes to the operating system, so that other readers see them.
  status flush();
  /// Flushes, and makes the bytes durable.
  status sync();
  /// Ends the compressed data, and syncs. Later writes fail.
  status finish();

private:
  struct state;
  explicit output_stream(std::unique_ptr<state> created);
  std::unique_ptr<state> state_;
};

} // namespace troupe
