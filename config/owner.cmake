# SPDX-License-Identifier: BSD-2-Clause
# What only those who publish Tenon know: they fill it in here and nowhere else. The Debian packages and the recipes for
# Spack, conda and EasyBuild take it from here. A field that is empty is left out of them, except for the contact, for
# which they name no one who could answer.
set(TENON_URL "")     # the home page, or the page of the repository
set(TENON_GIT "")     # what `git clone` takes
set(TENON_CONTACT "") # Name <address>: who answers questions and reports, and maintains the packages
