// A cluster file that is read again when it changes.
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

  // Who replaces the file while it is read changes what is seen of it: it is read once more.
  result<task_addresses> read() override {
    auto seen = look();
    if (!seen.there())
      return failure(error_kind::not_found, "cannot read the cluster file ", path_, ": ",
                     std::strerror(seen.problem));
    if (seen == read_at_)
      return says_;
    TROUPE_ASSIGN(auto cluster, read_cluster_file(path_));
    says_ = cluster;
    read_at_ = look() == seen ? seen : version{};
    return says_;
  }
  std::chrono::milliseconds read_again() const override { return 1s; }
  bool jobs_are_final() const override { return jobs_are_final_; }
  std::string name() const override { return "the cluster file " + path_; }

private:
  struct version {
    int problem = ENOENT;
    ino_t inode = 0;
    off_t size = 0;
    int64_t seconds = 0, nanoseconds = 0;
    bool there() const { return problem == 0; }
    bool operator==(const version&) const = default;
  };

  version look() const {
    struct stat found {};
    if (::stat(path_.c_str(), &found) != 0)
      return {.problem = errno};
    return {.problem = 0,
            .inode = found.st_ino,
            .size = found.st_size,
            .seconds = found.st_mtim.tv_sec,
            .nanoseconds = found.st_mtim.tv_nsec};
  }

  std::string path_;
  const bool jobs_are_final_;
  version read_at_;
  task_addresses says_;
};

} // namespace

std::shared_ptr<address_source> make_file_source(std::string path, bool jobs_are_final) {
  return std::make_shared<file_source>(std::move(path), jobs_are_final);
}

} // namespace troupe
