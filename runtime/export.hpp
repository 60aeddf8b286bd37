// The symbols of the library that programs see: the shared library hides every symbol that is not
// marked with TROUPE_API.
#pragma once

#define TROUPE_API [[gnu::visibility("default")]]
