#include "tests/support/simulated_disk.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace troupe::test {
namespace {

constexpr size_t sector_bytes = 512;

uint64_t bytes_in(const auto& folder) {
  uint64_t sum = 0;
  for (const auto& [name, each] : folder.names)
    sum += each->folder ? bytes_in(*each) : each->now.size();
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

// Some names of folders, changed together or not at all.
struct simulated_disk::name_change {
  struct one {
    node_ptr folder;
    std::string name;
    node_ptr becomes; // null: removed
  };
  std::vector<one> all;
  bool synced = false;
};

struct simulated_disk::node {
  bool folder = false;
  // A file: what processes see, and what was synced.
  std::string now, synced;
  bool truncated = false; // since the last sync
  bool lost = false;      // a sync has failed: later ones do nothing
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

  status read(uint64_t offset, std::span<std::byte> to) const override {
    std::lock_guard locked{disk_.lock_};
    TROUPE_TRY(disk_.usable("read", path_));
    if (generation_ != disk_.generation_)
      return failure(error_kind::unavailable, "cannot read ", path_, ": opened before a crash");
    if (disk_.happens(disk_.faults.failing_reads))
      return failure(error_kind::unavailable, "cannot read ", path_, ": the disk failed");
    auto size = std::min<uint64_t>(size_, file_->now.size());
    if (offset > size || to.size() > size - offset)
      return failure(error_kind::out_of_range, path_, ": ends at byte ", size, ", and ", to.size(),
                     " bytes from byte ", offset, " on are needed; it was cut off");
    if (to.empty())
      return {};
    std::memcpy(to.data(), file_->now.data() + offset, to.size());
    if (disk_.happens(disk_.faults.flipped_bits))
      to[disk_.below(to.size())] ^= std::byte{1} << disk_.below(8);
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

// A change that waits holds the folder that it waits in.
simulated_disk::~simulated_disk() {
  for (const auto& one : changed_folders_)
    if (auto folder = one.lock())
      folder->waiting.clear();
}

// What waits names folders, which have what waits.
simulated_disk::node_ptr simulated_disk::find(std::string_view path) const {
  auto at = root_;
  for (const auto& part : parts_of(path)) {
    auto found = at->names.find(part);
    if (found == at->names.end())
      return nullptr;
    at = found->second;
  }
  return at;
}

result<simulated_disk::node_ptr> simulated_disk::parent_of(std::string_view what,
                                                           const std::string& path) const {
  auto folder = find(folder_of(path));
  if (!folder || !folder->folder || parts_of(path).empty())
    return failure(error_kind::not_found, "cannot ", what, ' ', path,
                   ": there is no such file or folder; check the path");
  return folder;
}

void simulated_disk::change_names(std::vector<name_change> all) {
  for (auto& change : all) {
    auto kept = std::make_shared<name_change>(std::move(change));
    for (const auto& one : kept->all) {
      if (one.becomes)
        one.folder->names[one.name] = one.becomes;
      else
        one.folder->names.erase(one.name);
      one.folder->waiting.push_back(kept);
      changed_folders_.insert(one.folder);
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

status simulated_disk::usable(std::string_view what, const std::string& path) const {
  if (crashed_)
    return failure(error_kind::unavailable, "cannot ", what, ' ', path, ": the disk has crashed");
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
    auto found = folder->names.find(name);
    if (found == folder->names.end()) {
      change_names({{.all = {{folder, name, std::make_shared<node>()}}}});
      found = folder->names.find(name);
    } else if (found->second->folder) {
      return invalid("cannot write ", path, ": it is a folder; name a file in it");
    } else {
      found->second->now.clear();
      found->second->truncated = true;
    }
    if (!crashes)
      return std::unique_ptr<writable_file>{std::make_unique<writer>(*this, found->second, path)};
  }
  crash_locked();
  return usable("write", path);
}

status simulated_disk::append(node& to, std::span<const std::byte> bytes, const std::string& path) {
  auto crashes = crashes_now();
  auto fails = happens(faults.failing_writes);
  auto room = faults.capacity - std::min(faults.capacity, used());
  auto fits = static_cast<size_t>(std::min<uint64_t>(bytes.size(), room));
  auto put = crashes || fails ? std::min(below(bytes.size() + 1), fits) : fits;
  to.now.append(reinterpret_cast<const char*>(bytes.data()), put);
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
      for (const auto& one : change->all)
        if (one.becomes)
          one.folder->synced_names[one.name] = one.becomes;
        else
          one.folder->synced_names.erase(one.name);
    }
    folder->waiting.clear();
  }
  if (crashes)
    crash_locked();
  return usable("write the folder", path);
}

status simulated_disk::rename(const std::string& from, const std::string& to) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("rename", from));
  TROUPE_ASSIGN(auto old_folder, parent_of("rename", from));
  TROUPE_ASSIGN(auto new_folder, parent_of("rename", to));
  auto moved = find(from);
  if (!moved)
    return failure(error_kind::not_found, "cannot rename ", from, ": there is no such file");
  if (auto there = find(to); there == moved)
    return {};
  else if (there && there->folder && !there->names.empty())
    return failure(error_kind::failed_precondition, "cannot rename ", from, " to ", to,
                   ": the folder is not empty");
  auto crashes = crashes_now();
  if (!crashes || below(2) == 0)
    change_names({{.all = {{old_folder, std::string{name_of_file(from)}, nullptr},
                           {new_folder, std::string{name_of_file(to)}, moved}}}});
  if (crashes)
    crash_locked();
  return usable("rename", from);
}

status simulated_disk::remove(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("remove", path));
  TROUPE_ASSIGN(auto folder, parent_of("remove", path));
  auto found = find(path);
  if (!found)
    return failure(error_kind::not_found, "cannot remove ", path, ": there is no such file");
  if (found->folder && !found->names.empty())
    return failure(error_kind::failed_precondition, "cannot remove ", path,
                   ": the folder is not empty; remove what is in it first");
  auto crashes = crashes_now();
  if (!crashes || below(2) == 0)
    change_names({{.all = {{folder, std::string{name_of_file(path)}, nullptr}}}});
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
  auto at = root_;
  for (const auto& part : parts_of(path)) {
    auto found = at->names.find(part);
    if (found == at->names.end()) {
      auto crashes = crashes_now();
      auto made = std::make_shared<node>();
      made->folder = true;
      change_names({{.all = {{at, part, made}}}});
      if (crashes) {
        crash_locked();
        return usable("make the folder", path);
      }
      at = made;
    } else if (!found->second->folder) {
      return failure(error_kind::already_exists, "cannot make the folder ", path,
                     ": it is there already; choose another name");
    } else {
      at = found->second;
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
  std::vector<file_info> all;
  for (const auto& [name, each] : folder->names)
    all.push_back({.name = name, .folder = each->folder, .bytes = each->now.size()});
  return all;
}

result<file_info> simulated_disk::inspect(const std::string& path) {
  std::lock_guard locked{lock_};
  TROUPE_TRY(usable("look at", path));
  auto found = find(path);
  if (!found)
    return failure(error_kind::not_found, "cannot look at ", path,
                   ": there is no such file or folder; check the path");
  return file_info{std::string{name_of_file(path)}, found->folder, found->now.size()};
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

// What a crash leaves of a file.
void simulated_disk::settle(node& file) {
  if (file.now != file.synced || file.truncated) {
    auto left = file.synced;
    if (!file.truncated || below(2) == 0) {
      if (file.truncated)
        left.clear();
      const auto begin = left.size();
      const auto end = begin + below(file.now.size() - std::min(begin, file.now.size()) + 1);
      for (auto at = begin; at < end;) {
        auto stop = std::min(end, (at / sector_bytes + 1) * sector_bytes);
        auto garbage = static_cast<char>(random_());
        switch (below(4)) {
          case 0: left.append(stop - at, '\0'); break;
          case 1: left.append(stop - at, garbage); break;
          default: left.append(file.now, at, stop - at); break;
        }
        at = stop;
      }
    }
    file.now = left;
  }
  file.synced = file.now;
  file.truncated = file.lost = false;
}

void simulated_disk::crash_locked() {
  crashed_ = true;
  ++generation_;
  // Names first, of all folders: then what they lead to.
  std::vector<node_ptr> folders{root_};
  for (size_t i = 0; i < folders.size(); ++i) {
    const auto& folder = folders[i];
    for (const auto& change : folder->waiting) {
      if (std::exchange(change->synced, true) || below(2) == 0)
        continue;
      for (const auto& one : change->all)
        if (one.becomes)
          one.folder->synced_names[one.name] = one.becomes;
        else
          one.folder->synced_names.erase(one.name);
    }
    std::vector<node_ptr> inside;
    for (auto* names : {&folder->names, &folder->synced_names})
      for (const auto& [name, each] : *names)
        if (each->folder && std::ranges::find(folders, each) == folders.end())
          inside.push_back(each);
    folders.insert(folders.end(), inside.begin(), inside.end());
  }
  std::vector<node_ptr> settled;
  for (const auto& folder : folders) {
    folder->names = folder->synced_names;
    folder->waiting.clear();
    for (const auto& [name, each] : folder->names)
      if (!each->folder && std::ranges::find(settled, each) == settled.end()) {
        settle(*each);
        settled.push_back(each);
      }
  }
}

void simulated_disk::put(const std::string& path, std::string_view content) {
  std::lock_guard locked{lock_};
  auto at = root_;
  auto parts = parts_of(path);
  for (size_t i = 0; i < parts.size(); ++i) {
    auto& next = at->names[parts[i]];
    if (!next) {
      next = std::make_shared<node>();
      next->folder = i + 1 < parts.size();
    }
    at->synced_names[parts[i]] = next;
    at = next;
  }
  at->now = at->synced = content;
  at->truncated = at->lost = false;
}

std::string simulated_disk::content(const std::string& path) const {
  std::lock_guard locked{lock_};
  auto file = find(path);
  return file ? file->now : "";
}

} // namespace troupe::test
