// Zip archives, as NumPy's .npz files are: stored or deflated files, also with 64-bit sizes.
// Encrypted archives and archives in parts are not supported.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"

#include <map>

namespace troupe {

struct zip_entry {
  std::string name;
  uint64_t content_bytes = 0;
  uint64_t stored_bytes = 0; ///< in the archive
  uint64_t offset = 0;
  uint32_t crc = 0;
  uint16_t method = 0; ///< 0: stored, 8: deflated
};

class zip_reader {
public:
  /// Reads and checks the directory of an archive. Fails with data_loss for damage.
  static result<zip_reader> open(file_system& files, const std::string& path);

  const std::string& path() const noexcept { return file_->path(); }
  std::span<const zip_entry> entries() const noexcept { return entries_; }

  /// Reads a whole file of the archive and compares its checksum. Allocates no more memory than its
  /// deflated bytes can become.
  result<std::string> read(const zip_entry& entry) const;
  /// Reads at most `max_bytes` from the beginning of a file of the archive; compares no checksum.
  result<std::string> read_beginning(const zip_entry& entry, uint64_t max_bytes) const;

private:
  result<uint64_t> find_content(const zip_entry& entry) const;
  status damaged(const zip_entry& entry, std::string_view reason) const;
  status inflate_all(const zip_entry& entry, const std::string& from, std::string& to) const;

  std::unique_ptr<readable_file> file_;
  std::vector<zip_entry> entries_;
};

class zip_writer {
public:
  /// Sizes and offsets from `zip64_from` on are written with 64 bits; only tests pass another
  /// value.
  static result<zip_writer> create(file_system& files, const std::string& path,
                                   uint64_t zip64_from = 0xffffffff);

  status add(const std::string& name, std::string_view content, bool deflate = false);
  /// Writes the directory, and syncs the file.
  status finish();

private:
  std::unique_ptr<writable_file> file_;
  uint64_t zip64_from_ = 0;
  std::vector<zip_entry> entries_;
};

} // namespace troupe
