// The interface to file systems. All readers and writers of checkpoints and data use it, so that
// they also run on a simulated disk, with its crashes and damage
// (tests/support/simulated_disk.hpp).
//
// Errors name the file and the remedy: not_found for a missing file, already_exists,
// resource_exhausted for a full disk, out_of_range for reads beyond the end, unavailable if the
// system refuses access, or if reading or writing fails.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A file that is open for reading. Threads may read at the same time. Files are not mapped: if a
/// mapped file becomes shorter, or its disk fails, reading it ends the process.
class readable_file {
public:
  virtual ~readable_file() = default;
  virtual const std::string& path() const noexcept = 0;
  /// The size in bytes when the file was opened.
  virtual uint64_t size() const noexcept = 0;
  /// Reads all of `to`; fails with out_of_range if the file ends before, and with unavailable if
  /// the disk cannot read.
  virtual status read(uint64_t offset, std::span<std::byte> to) const = 0;
};

/// A file that is being written, from its beginning. One thread at a time.
class writable_file {
public:
  /// Closes the file; data that is not synced may be lost.
  virtual ~writable_file() = default;
  virtual const std::string& path() const noexcept = 0;
  /// The number of bytes appended.
  virtual uint64_t size() const noexcept = 0;
  /// After a failure the end of the file is undefined: remove the file and begin again.
  virtual status append(std::span<const std::byte> bytes) = 0;
  status append(std::string_view text) { return append(std::as_bytes(std::span{text})); }
  /// Returns when all appended data will survive a crash. The name of the file may not: see
  /// sync_folder(). After a failure, the appended data may be lost for good: it must be written
  /// again, to another file. Another sync() could succeed without having written anything.
  virtual status sync() = 0;
};

struct file_info {
  std::string name; ///< without the folder
  bool is_folder = false;
  uint64_t bytes = 0; ///< 0 for folders
};

/// Paths are those of the system, with '/' between folders. Thread-safe.
class file_system {
public:
  virtual ~file_system() = default;
  virtual result<std::unique_ptr<readable_file>> open(const std::string& path) = 0;
  /// Creates an empty file, and replaces an existing one. The folder must exist.
  virtual result<std::unique_ptr<writable_file>> create(const std::string& path) = 0;
  /// Returns when names that were created, changed or removed in the folder will survive a crash.
  virtual status sync_folder(const std::string& folder) = 0;
  /// Renames a file or folder. A file replaces an existing file atomically: at any moment, also
  /// after a crash, the name means either the old or the new file.
  virtual status rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file or an empty folder.
  virtual status remove(const std::string& path) = 0;
  /// Creates a folder, and its missing parents; success if it exists.
  virtual status make_folder(const std::string& path) = 0;
  /// Lists the content of a folder, sorted by name.
  virtual result<std::vector<file_info>> list(const std::string& folder) = 0;
  /// Describes the file or folder of that path.
  virtual result<file_info> inspect(const std::string& path) = 0;
  /// The number of bytes that can still be written to the disk of the folder.
  virtual result<uint64_t> free_space(const std::string& folder) = 0;
};

/// The file system of this machine.
file_system& real_files() noexcept;

/// The path of the folder that contains a path: "a" for "a/b", "." for "b", "/" for "/b".
std::string folder_of(std::string_view path);
/// The part after the last '/'.
std::string_view name_of_file(std::string_view path) noexcept;
/// Joins folder and name, with one '/' between them; the name alone for an empty folder.
std::string path_in(std::string_view folder, std::string_view name);

/// Reads a whole file. Fails with resource_exhausted for a file of more than `max_bytes`.
result<std::string> read_whole(file_system& files, const std::string& path,
                               uint64_t max_bytes = uint64_t{1} << 30);

/// Creates a folder, and its missing parents, as make_folder() does. After success, the created
/// folders will survive a crash; after a failure, they are removed again.
status make_folder_durably(file_system& files, const std::string& path);

/// Replaces a file so that after any crash its name means either the whole old content or the whole
/// new content: writes `path` + `suffix`, syncs it, renames it and syncs the folder. After success,
/// the new content will survive a crash.
status replace_file(file_system& files, const std::string& path, std::string_view content,
                    std::string_view suffix = ".new");

} // namespace troupe
