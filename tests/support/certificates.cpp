#include "tests/support/certificates.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace troupe::test {
namespace {

template <class T>
T value_of(result<T> outcome) {
  if (!outcome)
    throw std::runtime_error{outcome.status().message()};
  return *std::move(outcome);
}

// Writes the file atomically, as a program does that replaces files which others read.
void write_whole(const std::string& path, const std::string& text) {
  auto temporary_path = path + ".new";
  std::ofstream{temporary_path} << text;
  std::filesystem::rename(temporary_path, path);
}

} // namespace

test_authority::test_authority()
    : authority_(value_of(certificate_authority::make(validity::for_days(2)))) {
  write_whole(file(), authority_.pem().certificate);
}

tls_files test_authority::task(const std::string& job, int number, const std::string& cluster) {
  return issue({certificate_name::of_task(cluster, {job, number})});
}

tls_files test_authority::client(const std::string& name, const std::string& cluster) {
  return issue({certificate_name::of_client(cluster, name)});
}

tls_files test_authority::issue(const std::vector<certificate_name>& names, const validity& when) {
  auto number = issued_++;
  tls_files files{folder_ / concat(number, ".pem"), folder_ / concat(number, ".key"), file()};
  auto pair = value_of(authority_.issue(names, when));
  write_whole(files.certificate, pair.certificate);
  write_whole(files.key, pair.key);
  return files;
}

tls_files test_authority::token(const std::string& text) {
  return {{}, {}, file(), write(concat(issued_++, ".token"), text)};
}

std::string test_authority::write(const std::string& name, const std::string& text) {
  auto path = folder_ / name;
  write_whole(path, text);
  return path;
}

void test_authority::replace(const tls_files& files, const std::vector<certificate_name>& names) {
  auto pair = value_of(authority_.issue(names, validity::for_days(2)));
  write_whole(files.key, pair.key);
  write_whole(files.certificate, pair.certificate);
  write_whole(files.authority, authority_.pem().certificate);
}

} // namespace troupe::test
