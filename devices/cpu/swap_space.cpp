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

// Rounds up to pages: writing to a tensor copies its pages, which must hold no other tensor.
size_t whole_pages(size_t bytes) {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::string text_of(int error) { return std::generic_category().message(error); }

std::string default_folder() {
  const auto* folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/var/tmp";
}

result<int> open_file(const std::string& folder) {
  auto descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // Some file systems do not support O_TMPFILE.
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    auto name = folder + "/troupe-swap-XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0)
      ::unlink(name.c_str());
  }
  if (descriptor < 0)
    return failure(error_kind::failed_precondition, "cannot make a swap file in '", folder,
                   "': ", text_of(errno),
                   ": choose another folder with session_options::memory.swap_space or "
                   "--swap-folder");
  return descriptor;
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
    auto next_range = mapped_.upper_bound(static_cast<const std::byte*>(memory));
    return next_range != mapped_.begin() && memory < std::prev(next_range)->second;
  }

  result<tensor> write(const tensor& source) {
    auto allocated = std::make_unique<allocation>();
    TROUPE_TRY(allocate(whole_pages(source.bytes()), *allocated));
    TROUPE_TRY(write(*allocated, source));
    auto* mapped = new buffer{allocated->swap_file->memory + allocated->offset, source.bytes(),
                              release, allocated.get()};
    allocated.release();
    return tensor::from_buffer_unchecked(mapped, source.type(), source.dims());
  }

private:
  struct file {
    files& owner;
    int descriptor;
    std::byte* memory;
    size_t size, used = 0;
    ~file() { owner.close(*this); }
  };
  struct allocation {
    std::shared_ptr<files> owner = {};
    std::shared_ptr<file> swap_file = {};
    size_t offset = 0;
    size_t bytes = 0;
    ~allocation() {
      if (swap_file)
        owner->free_allocation(*this);
    }
  };

  static void release(buffer* released) {
    delete static_cast<allocation*>(released->context());
    delete released;
  }

  status allocate(size_t bytes, allocation& allocated) {
    std::lock_guard lock{mutex_};
    if (options_.limit > 0 && in_use() + bytes > options_.limit)
      return failure(error_kind::resource_exhausted, "swap files in '", options_.folder, "' have ",
                     in_use(), " bytes, and cannot take ", bytes, " more: their limit is ",
                     options_.limit);
    if (!current_ || current_->used + bytes > current_->size) {
      // Files grow with their total size, which bounds the number of descriptors.
      auto share = std::clamp(whole_pages(in_use() / 8), least_file, largest_file);
      TROUPE_ASSIGN(current_, create_file(std::max(bytes, share)));
    }
    allocated.owner = shared_from_this();
    allocated.swap_file = current_;
    allocated.offset = std::exchange(current_->used, current_->used + bytes);
    allocated.bytes = bytes;
    in_use_.fetch_add(bytes, std::memory_order_relaxed);
    return {};
  }

  result<std::shared_ptr<file>> create_file(size_t size) {
    TROUPE_ASSIGN(auto descriptor, open_file(options_.folder));
    auto* memory = MAP_FAILED;
    if (::ftruncate(descriptor, static_cast<off_t>(size)) == 0)
      memory =
          ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (memory == MAP_FAILED) {
      auto error_number = errno;
      ::close(descriptor);
      return failure(error_kind::resource_exhausted, "cannot use a swap file of ", size,
                     " bytes in '", options_.folder, "': ", text_of(error_number));
    }
    auto* begin = static_cast<std::byte*>(memory);
    auto created = std::make_shared<file>(*this, descriptor, begin, size);
    mapped_.emplace(begin, begin + size);
    return created;
  }

  status write(const allocation& target, const tensor& source) const {
    const auto* bytes = static_cast<const std::byte*>(source.raw());
    for (size_t bytes_written = 0; bytes_written < source.bytes();) {
      auto wrote = ::pwrite(target.swap_file->descriptor, bytes + bytes_written,
                            source.bytes() - bytes_written,
                            static_cast<off_t>(target.offset + bytes_written));
      if (wrote < 0 && errno == EINTR)
        continue;
      if (wrote <= 0)
        return failure(error_kind::resource_exhausted, "cannot write ", source.bytes(),
                       " bytes to a swap file in '", options_.folder,
                       "': ", text_of(wrote < 0 ? errno : ENOSPC));
      bytes_written += static_cast<size_t>(wrote);
    }
    return {};
  }

  // Drops the pages that were copied, and the file's blocks if the file system supports it. A file
  // is closed with its last tensor, even if it has free space.
  void free_allocation(allocation& freed) {
    ::madvise(freed.swap_file->memory + freed.offset, freed.bytes, MADV_DONTNEED);
    ::fallocate(freed.swap_file->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(freed.offset), static_cast<off_t>(freed.bytes));
    in_use_.fetch_sub(freed.bytes, std::memory_order_relaxed);
    std::lock_guard lock{mutex_};
    if (freed.swap_file == current_ && freed.swap_file.use_count() == 2)
      current_.reset();
    freed.swap_file.reset();
  }

  // Requires the mutex, or that this is the last reference.
  void close(const file& closed) {
    mapped_.erase(closed.memory);
    ::munmap(closed.memory, closed.size);
    ::close(closed.descriptor);
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

result<tensor> swap_space::move_to_disk(const tensor& source) {
  list_budget budget;
  return move_to_disk(source, budget);
}

result<tensor> swap_space::move_to_disk(const tensor& source, list_budget& budget) {
  if (source.type() == dtype::variant)
    return moved_lists(source, budget);
  if (source.bytes() < min_bytes || source.type() == dtype::string || !source.on_host())
    return source;
  return files_->write(source);
}

// Copies a list before changing it: other owners of the list keep theirs unchanged.
result<tensor> swap_space::moved_lists(const tensor& source, list_budget& budget) {
  tensor copy = source;
  for (size_t i = 0; i < source.values<tensor_list>().size(); ++i)
    for (size_t j = 0; j < source.values<tensor_list>()[i].items.size(); ++j) {
      const auto& item = source.values<tensor_list>()[i].items[j];
      // A writer of an item removes the item from the list first, so an item that is in a file is
      // unchanged.
      if (!budget.count_item() || files_->has(item.raw()))
        continue;
      TROUPE_ASSIGN(auto moved_item, move_to_disk(item, budget));
      if (moved_item.raw() == item.raw())
        continue;
      if (copy.raw() == source.raw()) {
        TROUPE_ASSIGN(copy, source.clone());
      }
      copy.values<tensor_list>()[i].items[j] = std::move(moved_item);
    }
  return copy;
}

size_t swap_space::in_use() const noexcept { return files_->in_use(); }

} // namespace troupe
