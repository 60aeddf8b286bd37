// The smallest program outside Troupe's tree that uses an installed Troupe.
#include <iostream>

#include <troupe/runtime/version.hpp>

int main() {
  std::cout << "troupe " << troupe::library_version << '\n';
}
