// A disk in memory that crashes, fills up, fails and loses data as real disks may. A seed
// determines the faults, so that every failure can be repeated.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"

#include <mutex>
#include <random>
#include <set>

namespace troupe::test {

/// The faults, as shares of the calls to which they could happen.
struct disk_faults {
  uint64_t capacity = UINT64_MAX; ///< bytes in files, all together
  double failing_reads = 0;
  double flipped_bits = 0;   ///< reads that return one wrong bit; the disk's own bytes stay right
  double failing_writes = 0; ///< a part may be written
  double failing_syncs = 0;  ///< data that was not synced is lost, though later syncs succeed
};

/// A crash keeps synced data. Of all other changes, each part may be kept or lost: any of the
/// changes of names in a folder; of bytes appended to a file some length, in which each sector is
/// as written, zeros or garbage; and of a file that was created again, the old content or the new.
/// A rename is atomic.
class simulated_disk final : public file_system {
public:
  explicit simulated_disk(uint64_t seed, disk_faults may_happen = {});
  ~simulated_disk() override;

  result<std::unique_ptr<readable_file>> open(const std::string& path) override;
  result<std::unique_ptr<writable_file>> create(const std::string& path) override;
  status sync_folder(const std::string& folder) override;
  status rename(const std::string& from, const std::string& new_path) override;
  status remove(const std::string& path) override;
  status make_folder(const std::string& path) override;
  result<std::vector<file_info>> list(const std::string& folder) override;
  result<file_info> inspect(const std::string& path) override;
  result<uint64_t> free_space(const std::string& folder) override;

  /// The process and the machine end: every call fails, until restart(). Files that were open
  /// before keep failing after it.
  void crash();
  /// Crashes in the middle of the change with that number, counted from now: 1 is the next
  /// create(), append(), sync(), sync_folder(), rename(), remove() or make_folder().
  void crash_in(uint64_t changes);
  bool crashed() const;
  void restart();
  /// The number of changes since the beginning.
  uint64_t changes() const;

  /// Functions for tests, without faults: creates a synced file; returns a file's current content
  /// ("" if the file does not exist).
  void put(const std::string& path, std::string_view content);
  std::string content(const std::string& path) const;

  disk_faults faults;

private:
  struct node;
  struct name_change;
  class reader;
  class writer;
  using node_ptr = std::shared_ptr<node>;

  node_ptr find(std::string_view path) const;
  result<node_ptr> parent_of(std::string_view action, const std::string& path) const;
  void change_names(std::vector<name_change> changes_made);
  bool happens(double share);
  size_t below(size_t limit);
  uint64_t used() const;
  status usable(std::string_view action, const std::string& path) const;
  bool crashes_now(); // counts a change
  void crash_locked();
  void settle(node& file);
  status make_folder_locked(const std::string& path);
  status append(node& file, std::span<const std::byte> bytes, const std::string& path);
  status sync(node& file, const std::string& path);

  mutable std::mutex lock_;
  mutable std::mt19937_64 random_;
  node_ptr root_;
  // Folders with unsynced changes of names, also removed folders.
  std::set<std::weak_ptr<node>, std::owner_less<>> changed_folders_;
  uint64_t changes_ = 0, crash_at_ = 0, generation_ = 0;
  bool crashed_ = false;
};

} // namespace troupe::test
