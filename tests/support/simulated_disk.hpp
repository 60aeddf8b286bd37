// A disk in memory that crashes, fills up, fails and forgets as real ones may. A seed chooses what
// happens, so that every failure can be repeated.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"

#include <mutex>
#include <random>
#include <set>

namespace troupe::test {

/// What may go wrong, as shares of the calls it could happen to.
struct disk_faults {
  uint64_t capacity = UINT64_MAX; ///< bytes in files, all together
  double failing_reads = 0;
  double flipped_bits = 0;   ///< reads in whose bytes one bit is wrong; the disk's stay right
  double failing_writes = 0; ///< a part may be written
  double failing_syncs = 0;  ///< what was not synced is lost, though later syncs succeed
};

/// A crash keeps what was synced. Of what was not, each part may be there or not: any of the
/// changes of names in a folder; of what was appended to a file some length, in which each sector
/// is as it was written, zeros or garbage; and where a file was made anew, the old content or the
/// new. A rename is never there in half.
class simulated_disk final : public file_system {
public:
  explicit simulated_disk(uint64_t seed, disk_faults may_happen = {});
  ~simulated_disk() override;

  result<std::unique_ptr<readable_file>> open(const std::string& path) override;
  result<std::unique_ptr<writable_file>> create(const std::string& path) override;
  status sync_folder(const std::string& folder) override;
  status rename(const std::string& from, const std::string& to) override;
  status remove(const std::string& path) override;
  status make_folder(const std::string& path) override;
  result<std::vector<file_info>> list(const std::string& folder) override;
  result<file_info> inspect(const std::string& path) override;
  result<uint64_t> free_space(const std::string& folder) override;

  /// The process and the machine end: every call fails, until restart(). Files that were open stay
  /// failed after it.
  void crash();
  /// Lets the disk crash in the middle of the change of that number, counted from now: 1 is the
  /// next create(), append(), sync(), sync_folder(), rename(), remove() or make_folder().
  void crash_in(uint64_t changes);
  bool crashed() const;
  void restart();
  /// How many changes there were since the beginning.
  uint64_t changes() const;

  /// What tests do without faults: a file that is there and synced; what a file holds now ("" if
  /// there is none).
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
  result<node_ptr> parent_of(std::string_view what, const std::string& path) const;
  void change_names(std::vector<name_change> all);
  bool happens(double share);
  size_t below(size_t limit);
  uint64_t used() const;
  status usable(std::string_view what, const std::string& path) const;
  bool crashes_now(); // counts a change
  void crash_locked();
  void settle(node& file);
  status make_folder_locked(const std::string& path);
  status append(node& to, std::span<const std::byte> bytes, const std::string& path);
  status sync(node& file, const std::string& path);

  mutable std::mutex lock_;
  mutable std::mt19937_64 random_;
  node_ptr root_;
  // Whose changes of names wait to be synced, removed folders as well.
  std::set<std::weak_ptr<node>, std::owner_less<>> changed_folders_;
  uint64_t changes_ = 0, crash_at_ = 0, generation_ = 0;
  bool crashed_ = false;
};

} // namespace troupe::test
