#include "troupe/devices/cpu/swap_space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>

namespace troupe {
namespace {

constexpr size_t least_file = size_t{64} << 20, largest_file = size_t{4} << 30;

// Who writes over a tensor copies its pages: no other tensor lies in them.
size_t whole_pages(size_t bytes) {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::string text_of(int error) { return std::generic_category().message(error); }

std::string default_folder() {
  const auto* named = std::getenv("TMPDIR");
  return named && *named ? named : "/var/tmp";
}

result<int> open_file(const std::string& folder) {
  auto made = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (made < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) { // not each file system knows it
    auto name = folder + "/troupe-swap-XXXXXX";
    made = ::mkostemp(name.data(), O_CLOEXEC);
    if (made >= 0)
      ::unlink(name.c_str());
  }
  if (made < 0)
    return failure(error_kind::failed_precondition, "cannot make a swap file in '", folder,
                   "': ", text_of(errno),
                   ": choose another folder with session_options::memory.swap_space or "
                   "--swap-folder");
  return made;
}

} // namespace

class swap_space::files : public std::enable_shared_from_this<files> {
public:
  explicit files(swap_space_options options) : options_(std::move(options)) {
    if (options_.folder.empty())
      options_.folder = default_folder();
  }

  size_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }

  bool has(const void* memory) {
    std::lock_guard lock{mutex_};
    auto it = mapped_.upper_bound(static_cast<const std::byte*>(memory));
    return it != mapped_.begin() && memory < std::prev(it)->second;
  }

  result<tensor> write(const tensor& what) {
    auto at = std::make_unique<place>();
    TROUPE_TRY(take(whole_pages(what.bytes()), *at));
    TROUPE_TRY(write(*at, what));
    auto* kept = new buffer{at->in->memory + at->offset, what.bytes(), release, at.get()};
    at.release();
    return tensor::raw_over(kept, what.type(), what.dims());
  }

private:
  struct file {
    files& of;
    int descriptor;
    std::byte* memory;
    size_t size, used = 0;
    ~file() { of.close(*this); }
  };
  struct place {
    std::shared_ptr<files> of = {};
    std::shared_ptr<file> in = {};
    size_t offset = 0;
    size_t bytes = 0;
    ~place() {
      if (in)
        of->leave(*this);
    }
  };

  static void release(buffer* what) {
    delete static_cast<place*>(what->context());
    delete what;
  }

  status take(size_t bytes, place& at) {
    std::lock_guard lock{mutex_};
    if (options_.limit > 0 && in_use() + bytes > options_.limit)
      return failure(error_kind::resource_exhausted, "swap files in '", options_.folder, "' have ",
                     in_use(), " bytes, and cannot take ", bytes, " more: their limit is ",
                     options_.limit);
    if (!current_ || current_->used + bytes > current_->size) {
      // Not so many that the process has no descriptors left.
      auto share = std::clamp(whole_pages(in_use() / 8), least_file, largest_file);
      TROUPE_ASSIGN(current_, begin(std::max(bytes, share)));
    }
    at.of = shared_from_this();
    at.in = current_;
    at.offset = std::exchange(current_->used, current_->used + bytes);
    at.bytes = bytes;
    in_use_.fetch_add(bytes, std::memory_order_relaxed);
    return {};
  }

  result<std::shared_ptr<file>> begin(size_t size) {
    TROUPE_ASSIGN(auto descriptor, open_file(options_.folder));
    auto* memory = MAP_FAILED;
    if (::ftruncate(descriptor, static_cast<off_t>(size)) == 0)
      memory =
          ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (memory == MAP_FAILED) {
      auto why = errno;
      ::close(descriptor);
      return failure(error_kind::resource_exhausted, "cannot use a swap file of ", size,
                     " bytes in '", options_.folder, "': ", text_of(why));
    }
    auto* begin = static_cast<std::byte*>(memory);
    auto made = std::make_shared<file>(*this, descriptor, begin, size);
    mapped_.emplace(begin, begin + size);
    return made;
  }

  status write(const place& to, const tensor& what) const {
    const auto* from = static_cast<const std::byte*>(what.raw());
    for (size_t done = 0; done < what.bytes();) {
      auto wrote = ::pwrite(to.in->descriptor, from + done, what.bytes() - done,
                            static_cast<off_t>(to.offset + done));
      if (wrote < 0 && errno == EINTR)
        continue;
      if (wrote <= 0)
        return failure(error_kind::resource_exhausted, "cannot write ", what.bytes(),
                       " bytes to a swap file in '", options_.folder,
                       "': ", text_of(wrote < 0 ? errno : ENOSPC));
      done += static_cast<size_t>(wrote);
    }
    return {};
  }

  // The pages that were copied go, and the blocks, where the file system can do that; a file with
  // its last tensor, also where there is room left.
  void leave(place& at) {
    ::madvise(at.in->memory + at.offset, at.bytes, MADV_DONTNEED);
    ::fallocate(at.in->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(at.offset), static_cast<off_t>(at.bytes));
    in_use_.fetch_sub(at.bytes, std::memory_order_relaxed);
    std::lock_guard lock{mutex_};
    if (at.in == current_ && at.in.use_count() == 2)
      current_.reset();
    at.in.reset();
  }

  // With the lock, or when nothing else is left.
  void close(const file& what) {
    mapped_.erase(what.memory);
    ::munmap(what.memory, what.size);
    ::close(what.descriptor);
  }

  swap_space_options options_;
  std::atomic<size_t> in_use_ = 0;
  std::mutex mutex_;
  std::map<const std::byte*, const std::byte*> mapped_; // begin and end
  std::shared_ptr<file> current_;
};

swap_space::swap_space(swap_space_options options)
    : chosen_(!options.folder.empty()), files_(std::make_shared<files>(std::move(options))) {}
swap_space::~swap_space() = default;

result<tensor> swap_space::moved(const tensor& what) {
  list_budget left;
  return moved(what, left);
}

result<tensor> swap_space::moved(const tensor& what, list_budget& left) {
  if (what.type() == dtype::variant)
    return moved_lists(what, left);
  if (what.bytes() < least_bytes || what.type() == dtype::string || !what.on_host())
    return what;
  return files_->write(what);
}

// Those who have the list as well keep it as it is.
result<tensor> swap_space::moved_lists(const tensor& what, list_budget& left) {
  tensor made = what;
  for (size_t i = 0; i < what.values<tensor_list>().size(); ++i)
    for (size_t j = 0; j < what.values<tensor_list>()[i].items.size(); ++j) {
      const auto& item = what.values<tensor_list>()[i].items[j];
      // Whoever writes over an item takes it off first: what lies in a file is as it was.
      if (!left.take() || files_->has(item.raw()))
        continue;
      TROUPE_ASSIGN(auto now, moved(item, left));
      if (now.raw() == item.raw())
        continue;
      if (made.raw() == what.raw()) {
        TROUPE_ASSIGN(made, what.clone());
      }
      made.values<tensor_list>()[i].items[j] = std::move(now);
    }
  return made;
}

size_t swap_space::in_use() const noexcept { return files_->in_use(); }

} // namespace troupe
