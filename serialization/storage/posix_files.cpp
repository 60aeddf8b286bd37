// The file system of this machine.
#include "troupe/serialization/storage/file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace troupe {
namespace {

constexpr size_t max_bytes_per_call = size_t{1} << 30; // the kernel takes less than 2 GiB

// The size of the page cache's unwritten part at which the disk is asked to begin writing.
constexpr uint64_t begin_writing_each = uint64_t{8} << 20;

// The error for a failed system call: "cannot ACTION PATH: ...".
status refused(int code, std::string_view action, const std::string& path) {
  auto text = std::system_category().message(code);
  switch (code) {
    case ENOENT:
      return failure(error_kind::not_found, "cannot ", action, ' ', path,
                     ": there is no such file or folder; check the path");
    case ENOTDIR:
      return failure(error_kind::not_found, "cannot ", action, ' ', path,
                     ": a part of the path is not a folder; check the path");
    case EISDIR:
      return invalid("cannot ", action, ' ', path, ": it is a folder; name a file in it");
    case EEXIST:
      return failure(error_kind::already_exists, "cannot ", action, ' ', path,
                     ": it exists already; choose another name");
    case ENOTEMPTY:
      return failure(error_kind::failed_precondition, "cannot ", action, ' ', path,
                     ": the folder is not empty; remove what is in it first");
    case EACCES:
    case EPERM:
    case EROFS:
      return failure(error_kind::unavailable, "cannot ", action, ' ', path, ": ", text,
                     "; change its permissions or choose another folder");
    case ENOSPC:
    case EDQUOT:
      return failure(error_kind::resource_exhausted, "cannot ", action, ' ', path,
                     ": the disk is full; free some of it or choose another folder");
    case EFBIG:
      return failure(error_kind::resource_exhausted, "cannot ", action, ' ', path,
                     ": it is larger than its file system allows; write more and smaller files");
    case EMFILE:
    case ENFILE:
      return failure(error_kind::resource_exhausted, "cannot ", action, ' ', path,
                     ": too many files are open; raise the limit (ulimit -n) or open fewer");
    case EIO:
      return failure(error_kind::unavailable, "cannot ", action, ' ', path,
                     ": the disk failed; look at the system's log and at the disk");
    default: return failure(error_kind::unavailable, "cannot ", action, ' ', path, ": ", text);
  }
}

class descriptor {
public:
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  int operator*() const noexcept { return number_; }

private:
  int number_;
};

// Opens a file; tries again after an interrupting signal.
int open_file(const std::string& path, int flags) {
  int number = -1;
  do
    number = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (number < 0 && errno == EINTR);
  return number;
}

class posix_reader final : public readable_file {
public:
  posix_reader(std::string path, descriptor file, uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  const std::string& path() const noexcept override { return path_; }
  uint64_t size() const noexcept override { return size_; }

  status read(uint64_t offset, std::span<std::byte> to) const override {
    if (offset > size_ || to.size() > size_ - offset)
      return ends_before(offset, to.size(), size_);
    while (!to.empty()) {
      auto count = ::pread(*file_, to.data(), std::min(to.size(), max_bytes_per_call),
                           static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return refused(errno, "read", path_);
      if (count == 0) // the file has become shorter
        return ends_before(offset, to.size(), offset);
      to = to.subspan(static_cast<size_t>(count));
      offset += static_cast<uint64_t>(count);
    }
    return {};
  }

private:
  status ends_before(uint64_t offset, size_t bytes, uint64_t size) const {
    return failure(error_kind::out_of_range, path_, ": ends at byte ", size, ", and ", bytes,
                   " bytes from byte ", offset, " on are needed; it was cut off");
  }

  std::string path_;
  descriptor file_;
  uint64_t size_;
};

class posix_writer final : public writable_file {
public:
  posix_writer(std::string path, descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  const std::string& path() const noexcept override { return path_; }
  uint64_t size() const noexcept override { return size_; }

  status append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      // In portions, so that the disk works while the next portion is copied.
      auto portion = std::min<size_t>(bytes.size(), begin_writing_each);
      auto count = ::write(*file_, bytes.data(), portion);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return refused(errno, "write", path_);
      bytes = bytes.subspan(static_cast<size_t>(count));
      size_ += static_cast<uint64_t>(count);
      if (size_ - begun_bytes_ >= begin_writing_each) {
        // A hint: only sync() guarantees that the bytes are written, and reports errors.
        ::sync_file_range(*file_, static_cast<off_t>(begun_bytes_),
                          static_cast<off_t>(size_ - begun_bytes_), SYNC_FILE_RANGE_WRITE);
        begun_bytes_ = size_;
      }
    }
    return {};
  }

  status sync() override {
    if (sync_error_) // the kernel reports a failure once, and forgets the unwritten data
      return refused(sync_error_, "write", path_);
    if (::fsync(*file_) != 0) {
      sync_error_ = errno;
      return refused(sync_error_, "write", path_);
    }
    return {};
  }

private:
  std::string path_;
  descriptor file_;
  uint64_t size_ = 0;
  uint64_t begun_bytes_ = 0; // up to here the disk was asked to begin writing
  int sync_error_ = 0;
};

result<file_info> describe(const std::string& path) {
  struct stat file_status {};
  if (::stat(path.c_str(), &file_status) != 0)
    return refused(errno, "look at", path);
  file_info info{.name = std::string{name_of_file(path)},
                 .is_folder = S_ISDIR(file_status.st_mode)};
  if (!info.is_folder)
    info.bytes = static_cast<uint64_t>(file_status.st_size);
  return info;
}

class posix_files final : public file_system {
public:
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    descriptor file{open_file(path, O_RDONLY | O_NONBLOCK)}; // opening a pipe must not block
    struct stat file_status {};
    if (*file < 0 || ::fstat(*file, &file_status) != 0)
      return refused(errno, "read", path);
    if (S_ISDIR(file_status.st_mode))
      return refused(EISDIR, "read", path);
    if (!S_ISREG(file_status.st_mode))
      return invalid("cannot read ", path, ": it is not a regular file");
    return std::unique_ptr<readable_file>{std::make_unique<posix_reader>(
        path, std::move(file), static_cast<uint64_t>(file_status.st_size))};
  }

  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    descriptor file{open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK)};
    if (*file < 0)
      return refused(errno, "write", path);
    return std::unique_ptr<writable_file>{std::make_unique<posix_writer>(path, std::move(file))};
  }

  status sync_folder(const std::string& folder) override {
    descriptor opened{open_file(folder, O_RDONLY | O_DIRECTORY)};
    if (*opened < 0 || ::fsync(*opened) != 0)
      return refused(errno, "write the folder", folder);
    return {};
  }

  status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return refused(errno, "rename", concat(from, " to ", to));
    return {};
  }

  status remove(const std::string& path) override {
    if (::remove(path.c_str()) != 0)
      return refused(errno, "remove", path);
    return {};
  }

  status make_folder(const std::string& path) override {
    auto code = make_folders(path);
    return code == 0 ? status{} : refused(code, "make the folder", path);
  }

  result<std::vector<file_info>> list(const std::string& folder) override {
    auto* opened = ::opendir(folder.c_str());
    if (!opened)
      return refused(errno, "list", folder);
    std::unique_ptr<DIR, void (*)(DIR*)> closes{opened, [](DIR* stream) { ::closedir(stream); }};
    std::vector<file_info> infos;
    for (errno = 0; auto* entry = ::readdir(opened); errno = 0) {
      std::string_view name = entry->d_name;
      if (name == "." || name == "..")
        continue;
      auto info = describe(path_in(folder, name));
      if (info)
        infos.push_back(*std::move(info));
      else if (info.status().kind() != error_kind::not_found) // else it has just been removed
        return info.status();
    }
    if (errno != 0)
      return refused(errno, "list", folder);
    std::ranges::sort(infos, {}, &file_info::name);
    return infos;
  }

  result<file_info> inspect(const std::string& path) override { return describe(path); }

  result<uint64_t> free_space(const std::string& folder) override {
    struct statvfs disk_status {};
    if (::statvfs(folder.c_str(), &disk_status) != 0)
      return refused(errno, "look at the disk of", folder);
    return uint64_t{disk_status.f_bavail} * disk_status.f_frsize;
  }

private:
  // Returns an errno code, or 0 for success.
  static int make_folders(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0)
      return 0;
    auto code = errno;
    if (code == ENOENT && folder_of(path) != path && !path.empty()) {
      if (auto parent_code = make_folders(folder_of(path)))
        return parent_code;
      if (::mkdir(path.c_str(), 0777) == 0)
        return 0;
      code = errno;
    }
    if (code != EEXIST)
      return code;
    struct stat file_status {};
    if (::stat(path.c_str(), &file_status) != 0)
      return errno;
    return S_ISDIR(file_status.st_mode) ? 0 : EEXIST;
  }
};

} // namespace

file_system& real_files() noexcept {
  static posix_files files;
  return files;
}

} // namespace troupe
