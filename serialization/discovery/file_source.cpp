// The source of a cluster file that is read again when it changes.
#include "troupe/serialization/discovery/sources.hpp"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>

namespace troupe {
namespace {

using namespace std::chrono_literals;

class file_source final : public address_source {
public:
  file_source(std::string path, bool jobs_are_final)
      : path_(std::move(path)), jobs_are_final_(jobs_are_final) {}

  // If the file is replaced while it is read, its version differs afterwards: the next call reads
  // the file again.
  result<task_addresses> read() override {
    auto current = inspect();
    if (!current.exists())
      return failure(error_kind::not_found, "cannot read the cluster file ", path_, ": ",
                     std::strerror(current.error_number));
    if (current == read_version_)
      return addresses_;
    TROUPE_ASSIGN(auto cluster, read_cluster_file(path_));
    addresses_ = cluster;
    read_version_ = inspect() == current ? current : version{};
    return addresses_;
  }
  std::chrono::milliseconds poll_interval() const override { return 1s; }
  bool jobs_are_final() const override { return jobs_are_final_; }
  std::string name() const override { return "the cluster file " + path_; }

private:
  struct version {
    int error_number = ENOENT;
    ino_t inode = 0;
    off_t size = 0;
    int64_t seconds = 0, nanoseconds = 0;
    bool exists() const { return error_number == 0; }
    bool operator==(const version&) const = default;
  };

  version inspect() const {
    struct stat file_stat {};
    if (::stat(path_.c_str(), &file_stat) != 0)
      return {.error_number = errno};
    return {.error_number = 0,
            .inode = file_stat.st_ino,
            .size = file_stat.st_size,
            .seconds = file_stat.st_mtim.tv_sec,
            .nanoseconds = file_stat.st_mtim.tv_nsec};
  }

  std::string path_;
  const bool jobs_are_final_;
  version read_version_;
  task_addresses addresses_;
};

} // namespace

std::shared_ptr<address_source> make_file_source(std::string path, bool jobs_are_final) {
  return std::make_shared<file_source>(std::move(path), jobs_are_final);
}

} // namespace troupe
