#include "tests/support/simulated_disk.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace troupe::test {
namespace {

constexpr size_t sector_bytes = 512;

uint64_t bytes_in(const auto& folder) {
  uint64_t sum = 0;
  for (const auto& [name, child] : folder.names)
    sum += child->folder ? bytes_in(*child) : child->now.size();
  return sum;
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    auto slash = path.find('/');
    auto part = path.substr(0, slash);
    if (!part.empty() && part != ".")
      parts.emplace_back(part);
    path = slash == path.npos ? std::string_view{} : path.substr(slash + 1);
  }
  return parts;
}

} // namespace

// Changes of some names in folders, which take effect together or not at all.
struct simulated_disk::name_change {
  struct entry_change {
    node_ptr folder;
    std::string name;
    node_ptr becomes; // null: removed
  };
  std::vector<entry_change> folder_changes;
  bool synced = false;
};

struct simulated_disk::node {
  bool folder = false;
  // A file: its content as processes see it, and the synced content.
  std::string now, synced;
  bool truncated = false; // since the last sync
  bool lost = false;      // a sync has failed: later syncs do nothing
  // A folder.
  std::map<std::string, node_ptr> names, synced_names;
  std::vector<std::shared_ptr<name_change>> waiting;
};

class simulated_disk::reader final : public readable_file {
public:
  reader(simulated_disk& disk, node_ptr file, std::string path)
      : disk_(disk), file_(std::move(file)), path_(std::move(path)), size_(file_->now.size()),
        generation_(disk.generation_) {}

  const std::string& path() const noexcept override { return path_; }
  uint64_t size() const noexcept override { return size_; }

  status read(uint64_t offset, std::span<std::byte> bytes) const override {
    std::lock_guard locked{disk_.lock_};
    TROUPE_TRY(disk_.usable("read", path_));
    if (generation_ != disk_.generation_)
      return failure(error_kind::unavailable, "cannot read ", path_, ": opened before a crash");
    if (disk_.happens(disk_.faults.failing_reads))
      return failure(error_kind::unavailable, "cannot read ", path_, ": the disk failed");
    auto size = std::min<uint64_t>(size_, file_->now.size());
    if (offset > size || bytes.size() > size - offset)
      return failure(error_kind::out_of_range, path_, ": ends at byte ", size, ", and ",
                     bytes.size(), " bytes from byte ", offset, " on are needed; it was cut off");
    if (bytes.empty())
      return {};
    std::memcpy(bytes.data(), file_->now.data() + offset, bytes.size());
    if (disk_.happens(disk_.faults.flipped_bits))
      bytes[disk_.below(bytes.size())] ^= std::byte{1} << disk_.below(8);
    return {};
  }

private:
  simulated_disk& disk_;
  node_ptr file_;
  std::string path_;
  uint64_t size_;
  uint64_t generation_;
};

class simulated_disk::writer final : public writable_file {
public:
  writer(simulated_disk& disk, node_ptr file, std::string path)
      : disk_(disk), file_(std::move(file)), path_(std::move(path)), generation_(disk.generation_) {
  }

  const std::string& path() const noexcept override { return path_; }
  uint64_t size() const noexcept override { return size_; }

  status append(std::span<const std::byte> bytes) override {
    std::lock_guard locked{disk_.lock_};
    TROUPE_TRY(usable());
    TROUPE_TRY(disk_.append(*file_, bytes, path_));
    size_ += bytes.size();
    return {};
  }

  status sync() override {
    std::lock_guard locked{disk_.lock_};
    TROUPE_TRY(usable());
    return disk_.sync(*file_, path_);
  }

private:
  status usable() const {
    TROUPE_TRY(disk_.usable("write", path_));
    if (generation_ != disk_.generation_)
      return failure(error_kind::unavailable, "cannot write ", path_, ": opened before a crash");
    return {};
  }

  simulated_disk& disk_;
  node_ptr file_;
  std::string path_;
  uint64_t size_ = 0;
  uint64_t generation_;
};

simulated_disk::simulated_disk(uint64_t seed, disk_faults may_happen)
    : faults(may_happen), random_(seed), root_(std::make_shared<node>()) {
  root_->folder = true;
}

// A pending change holds its folder, and the folder holds the change: this breaks the cycle.
simulated_disk::~simulated_disk() {
  for (const auto& changed_folder : changed_folders_)
    if (auto folder = changed_folder.lock())
      folder->waiting.clear();
}

// Pending changes refer to folders, which hold pending changes.
simulated_disk::node_ptr simulated_disk::find(std::string_view path) const {
  auto folder = root_;
  for (const auto& part : parts_of(path)) {
    auto entry = folder->names.find(part);
    if (entry == folder->names.end())
      return nullptr;
    folder = entry->second;
  }
  return folder;
}

result<simulated_disk::node_ptr> simulated_disk::parent_of(std::string_view action,
                                                           const std::string& path) const {
  auto folder = find(folder_of(path));
  if (!folder || !folder->folder || parts_of(path).empty())
    return failure(error_kind::not_found, "cannot ", action, ' ', path,
                   ": there is no such file or folder; check the path");
  return folder;
}

void simulated_disk::change_names(std::vector<name_change> changes_made) {
  for (auto& change : changes_made) {
    auto shared_change = std::make_shared<name_change>(std::move(change));
    for (const auto& folder_change : shared_change->folder_changes) {
      if (folder_change.becomes)
        folder_change.folder->names[folder_change.name] = folder_change.becomes;
      else
        folder_change.folder->names.erase(folder_change.name);
      folder_change.folder->waiting.push_back(shared_change);
      changed_folders_.insert(folder_change.folder);
    }
  }
}

bool simulated_disk::happens(double share) {
  return share > 0 && std::uniform_real_distribution<>{}(random_) < share;
}

size_t simulated_disk::below(size_t limit) {
  return limit == 0 ? 0 : static_cast<size_t>(random_() % limit);
}

uint64_t simulated_disk::used() const { return bytes_in(*root_); }

status simulated_disk::usable(std::string_view action, const std::string& path) const {
  if (crashed_)
    return failure(error_kind::unavailable, "cannot ", action, ' ', path, ": the disk has crashed");
  return {};
}

bool simulated_disk::crashes_now() {
  ++changes_;
  return crash_at_ != 0 && changes_ >= crash_at_;
}

result<std::unique_ptr<readable_file>> simulated_disk::open(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("read", path));
  auto file = find(path);
  if (!file)
    return failure(error_kind::not_found, "cannot read ", path,
                   ": there is no such file or folder; check the path");
  if (file->folder)
    return invalid("cannot read ", path, ": it is a folder; name a file in it");
  return std::unique_ptr<readable_file>{std::make_unique<reader>(*this, file, path)};
}

result<std::unique_ptr<writable_file>> simulated_disk::create(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("write", path));
  TROUPE_ASSIGN(auto folder, parent_of("write", path));
  auto crashes = crashes_now();
  if (!crashes || below(2) == 0) {
    auto name = std::string{name_of_file(path)};
    auto entry = folder->names.find(name);
    if (entry == folder->names.end()) {
      change_names({{.folder_changes = {{folder, name, std::make_shared<node>()}}}});
      entry = folder->names.find(name);
    } else if (entry->second->folder) {
      return invalid("cannot write ", path, ": it is a folder; name a file in it");
    } else {
      entry->second->now.clear();
      entry->second->truncated = true;
    }
    if (!crashes)
      return std::unique_ptr<writable_file>{std::make_unique<writer>(*this, entry->second, path)};
  }
  crash_locked();
  return usable("write", path);
}

status simulated_disk::append(node& file, std::span<const std::byte> bytes,
                              const std::string& path) {
  auto crashes = crashes_now();
  auto fails = happens(faults.failing_writes);
  auto room = faults.capacity - std::min(faults.capacity, used());
  auto fits = static_cast<size_t>(std::min<uint64_t>(bytes.size(), room));
  auto written_bytes = crashes || fails ? std::min(below(bytes.size() + 1), fits) : fits;
  file.now.append(reinterpret_cast<const char*>(bytes.data()), written_bytes);
  if (crashes) {
    crash_locked();
    return usable("write", path);
  }
  if (fails)
    return failure(error_kind::unavailable, "cannot write ", path, ": the disk failed");
  if (fits < bytes.size())
    return failure(error_kind::resource_exhausted, "cannot write ", path,
                   ": the disk is full; free some of it or choose another folder");
  return {};
}

status simulated_disk::sync(node& file, const std::string& path) {
  auto crashes = crashes_now();
  if (crashes && below(2) == 0) {
    crash_locked();
    return usable("write", path);
  }
  if (happens(faults.failing_syncs)) {
    file.lost = true;
    return failure(error_kind::unavailable, "cannot write ", path, ": the disk failed");
  }
  if (!file.lost) {
    file.synced = file.now;
    file.truncated = false;
  }
  if (crashes)
    crash_locked();
  return usable("write", path);
}

status simulated_disk::sync_folder(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("write the folder", path));
  auto folder = find(path);
  if (!folder || !folder->folder)
    return failure(error_kind::not_found, "cannot write the folder ", path,
                   ": there is no such folder; check the path");
  auto crashes = crashes_now();
  if (!crashes || below(2) == 0) {
    for (const auto& change : folder->waiting) {
      if (std::exchange(change->synced, true))
        continue;
      for (const auto& folder_change : change->folder_changes)
        if (folder_change.becomes)
          folder_change.folder->synced_names[folder_change.name] = folder_change.becomes;
        else
          folder_change.folder->synced_names.erase(folder_change.name);
    }
    folder->waiting.clear();
  }
  if (crashes)
    crash_locked();
  return usable("write the folder", path);
}

status simulated_disk::rename(const std::string& from, const std::string& new_path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("rename", from));
  TROUPE_ASSIGN(auto old_folder, parent_of("rename", from));
  TROUPE_ASSIGN(auto new_folder, parent_of("rename", new_path));
  auto moved = find(from);
  if (!moved)
    return failure(error_kind::not_found, "cannot rename ", from, ": there is no such file");
  if (auto target = find(new_path); target == moved)
    return {};
  else if (target && target->folder && !target->names.empty())
    return failure(error_kind::failed_precondition, "cannot rename ", from, " to ", new_path,
                   ": the folder is not empty");
  auto crashes = crashes_now();
  if (!crashes || below(2) == 0)
    change_names({{.folder_changes = {{old_folder, std::string{name_of_file(from)}, nullptr},
                                      {new_folder, std::string{name_of_file(new_path)}, moved}}}});
  if (crashes)
    crash_locked();
  return usable("rename", from);
}

status simulated_disk::remove(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("remove", path));
  TROUPE_ASSIGN(auto folder, parent_of("remove", path));
  auto file = find(path);
  if (!file)
    return failure(error_kind::not_found, "cannot remove ", path, ": there is no such file");
  if (file->folder && !file->names.empty())
    return failure(error_kind::failed_precondition, "cannot remove ", path,
                   ": the folder is not empty; remove what is in it first");
  auto crashes = crashes_now();
  if (!crashes || below(2) == 0)
    change_names({{.folder_changes = {{folder, std::string{name_of_file(path)}, nullptr}}}});
  if (crashes)
    crash_locked();
  return usable("remove", path);
}

status simulated_disk::make_folder(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("make the folder", path));
  return make_folder_locked(path);
}

status simulated_disk::make_folder_locked(const std::string& path) {
  auto folder = root_;
  for (const auto& part : parts_of(path)) {
    auto entry = folder->names.find(part);
    if (entry == folder->names.end()) {
      auto crashes = crashes_now();
      auto new_folder = std::make_shared<node>();
      new_folder->folder = true;
      change_names({{.folder_changes = {{folder, part, new_folder}}}});
      if (crashes) {
        crash_locked();
        return usable("make the folder", path);
      }
      folder = new_folder;
    } else if (!entry->second->folder) {
      return failure(error_kind::already_exists, "cannot make the folder ", path,
                     ": it exists already; choose another name");
    } else {
      folder = entry->second;
    }
  }
  return {};
}

result<std::vector<file_info>> simulated_disk::list(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("list", path));
  auto folder = find(path);
  if (!folder || !folder->folder)
    return failure(error_kind::not_found, "cannot list ", path,
                   ": there is no such folder; check the path");
  std::vector<file_info> files;
  for (const auto& [name, child] : folder->names)
    files.push_back({.name = name, .is_folder = child->folder, .bytes = child->now.size()});
  return files;
}

result<file_info> simulated_disk::inspect(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("look at", path));
  auto file = find(path);
  if (!file)
    return failure(error_kind::not_found, "cannot look at ", path,
                   ": there is no such file or folder; check the path");
  return file_info{std::string{name_of_file(path)}, file->folder, file->now.size()};
}

result<uint64_t> simulated_disk::free_space(const std::string& folder) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("look at the disk of", folder));
  return faults.capacity - std::min(faults.capacity, used());
}

void simulated_disk::crash() {
  std::lock_guard locked{lock_};
  crash_locked();
}

void simulated_disk::crash_in(uint64_t changes) {
  std::lock_guard locked{lock_};
  crash_at_ = changes_ + changes;
}

bool simulated_disk::crashed() const {
  std::lock_guard locked{lock_};
  return crashed_;
}

void simulated_disk::restart() {
  std::lock_guard locked{lock_};
  crashed_ = false;
  crash_at_ = 0;
}

uint64_t simulated_disk::changes() const {
  std::lock_guard locked{lock_};
  return changes_;
}

// The content of a file after a crash.
void simulated_disk::settle(node& file) {
  if (file.now != file.synced || file.truncated) {
    auto remaining = file.synced;
    if (!file.truncated || below(2) == 0) {
      if (file.truncated)
        remaining.clear();
      const auto begin = remaining.size();
      const auto end = begin + below(file.now.size() - std::min(begin, file.now.size()) + 1);
      for (auto sector = begin; sector < end;) {
        auto stop = std::min(end, (sector / sector_bytes + 1) * sector_bytes);
        auto garbage = static_cast<char>(random_());
        switch (below(4)) {
          case 0: remaining.append(stop - sector, '\0'); break;
          case 1: remaining.append(stop - sector, garbage); break;
          default: remaining.append(file.now, sector, stop - sector); break;
        }
        sector = stop;
      }
    }
    file.now = remaining;
  }
  file.synced = file.now;
  file.truncated = file.lost = false;
}

void simulated_disk::crash_locked() {
  crashed_ = true;
  ++generation_;
  // Names first, in all folders: then the files and folders that they name.
  std::vector<node_ptr> folders{root_};
  for (size_t i = 0; i < folders.size(); ++i) {
    const auto& folder = folders[i];
    for (const auto& change : folder->waiting) {
      if (std::exchange(change->synced, true) || below(2) == 0)
        continue;
      for (const auto& folder_change : change->folder_changes)
        if (folder_change.becomes)
          folder_change.folder->synced_names[folder_change.name] = folder_change.becomes;
        else
          folder_change.folder->synced_names.erase(folder_change.name);
    }
    std::vector<node_ptr> inside;
    for (auto* names : {&folder->names, &folder->synced_names})
      for (const auto& [name, child] : *names)
        if (child->folder && std::ranges::find(folders, child) == folders.end())
          inside.push_back(child);
    folders.insert(folders.end(), inside.begin(), inside.end());
  }
  std::vector<node_ptr> settled;
  for (const auto& folder : folders) {
    folder->names = folder->synced_names;
    folder->waiting.clear();
    for (const auto& [name, child] : folder->names)
      if (!child->folder && std::ranges::find(settled, child) == settled.end()) {
        settle(*child);
        settled.push_back(child);
      }
  }
}

void simulated_disk::put(const std::string& path, std::string_view content) {
  std::lock_guard locked{lock_};
  auto folder = root_;
  auto parts = parts_of(path);
  for (size_t i = 0; i < parts.size(); ++i) {
    auto& next = folder->names[parts[i]];
    if (!next) {
      next = std::make_shared<node>();
      next->folder = i + 1 < parts.size();
    }
    folder->synced_names[parts[i]] = next;
    folder = next;
  }
  folder->now = folder->synced = content;
  folder->truncated = folder->lost = false;
}

std::string simulated_disk::content(const std::string& path) const {
  std::lock_guard locked{lock_};
  auto file = find(path);
  return file ? file->now : "";
}

} // namespace troupe::test
