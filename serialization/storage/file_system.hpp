// Where files lie: the one interface to a disk, so that what writes checkpoints and reads data runs
// on a simulated disk, too, with its crashes and damage (tests/support/simulated_disk.hpp).
//
// Errors name the file and say what to do: not_found where there is none, already_exists,
// resource_exhausted for a full disk, out_of_range for reads behind the end, unavailable for what
// the system refuses or what fails while it is read or written.
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

/// A file that is open for reading. Threads may read at the same time. There is no view of a file
/// in memory: where a mapped file becomes shorter, or its disk fails, reading it ends the process.
class readable_file {
public:
  virtual ~readable_file() = default;
  virtual const std::string& path() const noexcept = 0;
  /// How many bytes it had when it was opened.
  virtual uint64_t size() const noexcept = 0;
  /// Reads all of `to`; fails with out_of_range if the file ends before, and with unavailable if
  /// the disk cannot read.
  virtual status read(uint64_t offset, std::span<std::byte> to) const = 0;
};

/// A file that is being written, from its beginning. One thread at a time.
class writable_file {
public:
  /// Closes it; what is not synced may be lost.
  virtual ~writable_file() = default;
  virtual const std::string& path() const noexcept = 0;
  /// How much was appended.
  virtual uint64_t size() const noexcept = 0;
  /// After a failure the file's end is unknown: remove it and begin again.
  virtual status append(std::span<const std::byte> bytes) = 0;
  status append(std::string_view text) { return append(std::as_bytes(std::span{text})); }
  /// Returns when all that was appended will survive a crash. The file's name may not: see
  /// sync_folder(). After a failure, what was appended may be lost for good: it must be written
  /// again, to another file. Another sync() could succeed without having written anything.
  virtual status sync() = 0;
};

struct file_info {
  std::string name; ///< without the folder
  bool folder = false;
  uint64_t bytes = 0; ///< 0 for folders
};

/// Paths are those of the system, with '/' between folders. All functions may be called from any
/// thread.
class file_system {
public:
  virtual ~file_system() = default;
  virtual result<std::unique_ptr<readable_file>> open(const std::string& path) = 0;
  /// Makes an empty file, in place of the file that was there, if any. The folder must be there.
  virtual result<std::unique_ptr<writable_file>> create(const std::string& path) = 0;
  /// Returns when names that were made, changed or removed in the folder will survive a crash.
  virtual status sync_folder(const std::string& folder) = 0;
  /// Gives a file or folder another name. A file takes the place of one that is there, at once: at
  /// any moment, also after a crash, the name means either the old or the new.
  virtual status rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file or an empty folder.
  virtual status remove(const std::string& path) = 0;
  /// Makes a folder, and those around it where they are missing; success if it is there.
  virtual status make_folder(const std::string& path) = 0;
  /// What is in a folder, in the order of names.
  virtual result<std::vector<file_info>> list(const std::string& folder) = 0;
  /// Describes what the path names.
  virtual result<file_info> inspect(const std::string& path) = 0;
  /// How many bytes can still be written to the disk of the folder.
  virtual result<uint64_t> free_space(const std::string& folder) = 0;
};

/// This machine's.
file_system& real_files() noexcept;

/// The path of the folder that a path lies in: "a" for "a/b", "." for "b", "/" for "/b".
std::string folder_of(std::string_view path);
/// What follows the last '/'.
std::string_view name_of_file(std::string_view path) noexcept;
/// Both, with one '/' between them; the name alone for an empty folder.
std::string path_in(std::string_view folder, std::string_view name);

/// Reads a whole file. Fails with resource_exhausted for one of more than `most` bytes.
result<std::string> read_whole(file_system& files, const std::string& path,
                               uint64_t most = uint64_t{1} << 30);

/// Makes a folder, and those around it where they are missing, as make_folder() does. When it
/// returns success, those that it made will survive a crash; after a failure there are none of
/// them.
status make_folder_durably(file_system& files, const std::string& path);

/// Replaces a file so that, whatever crashes, its name means the whole old content or the whole
/// new: writes `path` + `meanwhile`, syncs it, renames it and syncs the folder. When it returns
/// success, the new content will survive a crash.
status replace_file(file_system& files, const std::string& path, std::string_view content,
                    std::string_view meanwhile = ".new");

} // namespace troupe
