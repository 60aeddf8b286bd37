// A folder that exists for the time of a test.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace troupe::test {

class temporary_folder {
public:
  temporary_folder() {
    static std::atomic<int> count = 0;
    path_ =
        std::filesystem::temp_directory_path() / concat("troupe_test.", ::getpid(), ".", count++);
    std::filesystem::create_directories(path_);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_.string(); }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

} // namespace troupe::test
