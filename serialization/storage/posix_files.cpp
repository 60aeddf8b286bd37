// The disk of this machine.
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

constexpr size_t most_per_call = size_t{1} << 30; // the kernel takes less than 2 GiB

// How much may wait in memory before the disk is asked to begin with it.
constexpr uint64_t begin_writing_each = uint64_t{8} << 20;

status refused(int code, std::string_view what, const std::string& path) {
  auto text = std::system_category().message(code);
  switch (code) {
    case ENOENT:
      return failure(error_kind::not_found, "cannot ", what, ' ', path,
                     ": there is no such file or folder; check the path");
    case ENOTDIR:
      return failure(error_kind::not_found, "cannot ", what, ' ', path,
                     ": a part of the path is no folder; check the path");
    case EISDIR: return invalid("cannot ", what, ' ', path, ": it is a folder; name a file in it");
    case EEXIST:
      return failure(error_kind::already_exists, "cannot ", what, ' ', path,
                     ": it is there already; choose another name");
    case ENOTEMPTY:
      return failure(error_kind::failed_precondition, "cannot ", what, ' ', path,
                     ": the folder is not empty; remove what is in it first");
    case EACCES:
    case EPERM:
    case EROFS:
      return failure(error_kind::unavailable, "cannot ", what, ' ', path, ": ", text,
                     "; change its permissions or choose another folder");
    case ENOSPC:
    case EDQUOT:
      return failure(error_kind::resource_exhausted, "cannot ", what, ' ', path,
                     ": the disk is full; free some of it or choose another folder");
    case EFBIG:
      return failure(error_kind::resource_exhausted, "cannot ", what, ' ', path,
                     ": it is larger than its file system allows; write more and smaller files");
    case EMFILE:
    case ENFILE:
      return failure(error_kind::resource_exhausted, "cannot ", what, ' ', path,
                     ": too many files are open; raise the limit (ulimit -n) or open fewer");
    case EIO:
      return failure(error_kind::unavailable, "cannot ", what, ' ', path,
                     ": the disk failed; look at the system's log and at the disk");
    default: return failure(error_kind::unavailable, "cannot ", what, ' ', path, ": ", text);
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

int open_again(const std::string& path, int flags) {
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
      auto got = ::pread(*file_, to.data(), std::min(to.size(), most_per_call),
                         static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return refused(errno, "read", path_);
      if (got == 0) // it has become shorter
        return ends_before(offset, to.size(), offset);
      to = to.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
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
      // In portions, so that the disk works while the next one is copied.
      auto part = std::min<size_t>(bytes.size(), begin_writing_each);
      auto put = ::write(*file_, bytes.data(), part);
      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return refused(errno, "write", path_);
      bytes = bytes.subspan(static_cast<size_t>(put));
      size_ += static_cast<uint64_t>(put);
      if (size_ - begun_ >= begin_writing_each) {
        // A hint: sync() is what counts, and what reports errors.
        ::sync_file_range(*file_, static_cast<off_t>(begun_), static_cast<off_t>(size_ - begun_),
                          SYNC_FILE_RANGE_WRITE);
        begun_ = size_;
      }
    }
    return {};
  }

  status sync() override {
    if (failed_) // the kernel reports a failure once, and forgets what it did not write
      return refused(failed_, "write", path_);
    if (::fsync(*file_) != 0) {
      failed_ = errno;
      return refused(failed_, "write", path_);
    }
    return {};
  }

private:
  std::string path_;
  descriptor file_;
  uint64_t size_ = 0;
  uint64_t begun_ = 0; // until here the disk was asked to write
  int failed_ = 0;
};

result<file_info> describe(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return refused(errno, "look at", path);
  file_info info{.name = std::string{name_of_file(path)}, .folder = S_ISDIR(found.st_mode)};
  if (!info.folder)
    info.bytes = static_cast<uint64_t>(found.st_size);
  return info;
}

class posix_files final : public file_system {
public:
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    descriptor file{open_again(path, O_RDONLY | O_NONBLOCK)}; // no pipe keeps us waiting
    struct stat found {};
    if (*file < 0 || ::fstat(*file, &found) != 0)
      return refused(errno, "read", path);
    if (S_ISDIR(found.st_mode))
      return refused(EISDIR, "read", path);
    if (!S_ISREG(found.st_mode))
      return invalid("cannot read ", path, ": it is no regular file");
    return std::unique_ptr<readable_file>{std::make_unique<posix_reader>(
        path, std::move(file), static_cast<uint64_t>(found.st_size))};
  }

  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    descriptor file{open_again(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK)};
    if (*file < 0)
      return refused(errno, "write", path);
    return std::unique_ptr<writable_file>{std::make_unique<posix_writer>(path, std::move(file))};
  }

  status sync_folder(const std::string& folder) override {
    descriptor opened{open_again(folder, O_RDONLY | O_DIRECTORY)};
    if (*opened < 0 || ::fsync(*opened) != 0)
      return refused(errno, "write the folder", folder);
    return {};
  }

  status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return refused(errno, concat("rename to ", to, " what is"), from);
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
    std::unique_ptr<DIR, void (*)(DIR*)> closes{opened, [](DIR* it) { ::closedir(it); }};
    std::vector<file_info> all;
    for (errno = 0; auto* entry = ::readdir(opened); errno = 0) {
      std::string_view name = entry->d_name;
      if (name == "." || name == "..")
        continue;
      auto info = describe(path_in(folder, name));
      if (info)
        all.push_back(*std::move(info));
      else if (info.status().kind() != error_kind::not_found) // else it has just been removed
        return info.status();
    }
    if (errno != 0)
      return refused(errno, "list", folder);
    std::ranges::sort(all, {}, &file_info::name);
    return all;
  }

  result<file_info> inspect(const std::string& path) override { return describe(path); }

  result<uint64_t> free_space(const std::string& folder) override {
    struct statvfs found {};
    if (::statvfs(folder.c_str(), &found) != 0)
      return refused(errno, "look at the disk of", folder);
    return uint64_t{found.f_bavail} * found.f_frsize;
  }

private:
  static int make_folders(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0)
      return 0;
    auto code = errno;
    if (code == ENOENT && folder_of(path) != path && !path.empty()) {
      if (auto around = make_folders(folder_of(path)))
        return around;
      if (::mkdir(path.c_str(), 0777) == 0)
        return 0;
      code = errno;
    }
    if (code != EEXIST)
      return code;
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0)
      return errno;
    return S_ISDIR(found.st_mode) ? 0 : EEXIST;
  }
};

} // namespace

file_system& real_files() noexcept {
  static posix_files files;
  return files;
}

} // namespace troupe
