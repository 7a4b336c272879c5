! SPDX-License-Identifier: BSD-2-Clause
! Procedures that the generated subroutines (tenon_calls.f90) call to convert between Fortran and C:
!   reverse, turned_*             lists with an entry for each dimension; Fortran's first index is C's last
!   c_bool_of, c_dimension, c_nodes   truth values, dimensions, and nodes of a graph, as numbers of C
!   give                          results, to integers of 32 or 64 bits
!   check_*, explain_counted      errors in arguments, with the numbers that the Fortran program has passed
!   refuse_order                  the error of a call with its arguments in the order of C
!   finish                        the end of each call: sets ierr, or ends the program
!   text_at, give_text, terminated, addresses   texts with and without NUL
!   *_dimensions, *_axes, *_devices   numbers of entries of the lists of an object
! For example, dimension 1 of 3 is c_dimension(1, 3) = 2, and the extents [nx, ny, nz] are passed as [nz, ny, nx].
module tenon_convert
  use iso_c_binding
  use tenon_types
  use tenon_c
  implicit none
  private
  public :: reverse, reverse_each, turned_setting, turned_text, give, check_length, check_counted
  public :: check_nodes, explain_counted, finish, fail, refuse_order
  public :: c_bool_of, c_dimension, c_nodes
  public :: text_at, give_text, terminated, addresses
  public :: layout_dimensions, tensor_dimensions, spatial_dimensions, &
    partition_axes, machine_devices

  interface
    function raise_error(code, message, function, file, line) bind(C, name="TenonRaiseError") result(answer)
      import
      integer(c_int), value :: code, line
      character(kind=c_char), intent(in) :: message(*), function(*), file(*)
      integer(c_int) :: answer
    end function raise_error
    pure function length_of(text) bind(C, name="strlen") result(answer)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: answer
    end function length_of
  end interface

  interface reverse
    procedure reverse_int32, reverse_int64, reverse_real64, reverse_text
  end interface
  interface give
    procedure give_int64, give_int32, give_list_int64, give_list_int32
  end interface
contains

  ! Lists with an entry for each dimension of a tensor: the first index of Fortran is the last of C.
  pure function reverse_int32(list) result(reversed)
    integer(c_int32_t), intent(in) :: list(:)
    integer(c_int32_t) :: reversed(size(list))
    reversed = list(size(list):1:-1)
  end function reverse_int32

  pure function reverse_int64(list) result(reversed)
    integer(c_int64_t), intent(in) :: list(:)
    integer(c_int64_t) :: reversed(size(list))
    reversed = list(size(list):1:-1)
  end function reverse_int64

  ! The same for several of them in one list, one after the other.
  pure function reverse_each(list, ndim) result(reversed)
    integer(c_int64_t), intent(in) :: list(:)
    integer(c_int), intent(in) :: ndim
    integer(c_int64_t) :: reversed(size(list))
    integer :: first
    reversed = list
    if (ndim < 1) return
    do first = 1, size(list) - ndim + 1, ndim
      reversed(first:first + ndim - 1) = list(first + ndim - 1:first:-1)
    end do
  end function reverse_each

  pure function reverse_real64(list) result(reversed)
    real(c_double), intent(in) :: list(:)
    real(c_double) :: reversed(size(list))
    reversed = list(size(list):1:-1)
  end function reverse_real64

  ! Reverses the order of the pieces between commas: 'x,yy,z' becomes 'z,yy,x'.
  pure function reverse_text(list) result(reversed)
    character(len=*), intent(in) :: list
    character(len=:), allocatable :: reversed
    integer :: first, last, comma, at
    reversed = list
    first = 1
    at = len(list) ! end of the next piece
    do
      comma = index(list(first:), ',')
      last = merge(first + comma - 2, len(list), comma > 0)
      reversed(at - (last - first):at) = list(first:last)
      if (comma == 0) exit
      at = at - (last - first + 1)
      reversed(at:at) = ','
      at = at - 1
      first = last + 2
    end do
  end function reverse_text

  ! Converts a setting of a layer from the order of Fortran to that of C, or back. It has an entry
  ! for each dimension, except for widths, which are listed from the input to the output. The
  ! entries of a permutation are dimensions themselves.
  pure function turned_setting(name, list) result(turned)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: list(:)
    integer(c_int64_t) :: turned(size(list))
    turned = list
    if (name /= 'widths') turned = reverse(list)
    if (name == 'permutation') turned = size(list) - turned
  end function turned_setting

  ! The same for text settings. Only the listed ones have an entry for each dimension.
  pure function turned_text(name, text) result(turned)
    character(len=*), intent(in) :: name, text
    character(len=:), allocatable :: turned
    turned = text
    if (name == 'boundary' .or. name == 'spacing' .or. name == 'faces') turned = turned_lists(text)
  end function turned_text

  ! Reverses each list of a text that has one for each channel or group of channels, separated by semicolons, with
  ! the channel numbers in front: '0=zero,periodic;1=none,zero'.
  pure function turned_lists(text) result(turned)
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: turned
    integer :: first, last, semicolon
    turned = text
    first = 1
    do
      semicolon = index(text(first:), ';')
      last = merge(first + semicolon - 2, len(text), semicolon > 0)
      first = first + index(text(first:last), '=')
      turned(first:last) = reverse_text(text(first:last))
      if (semicolon == 0) exit
      first = last + 2
    end do
  end function turned_lists

  ! Assign a result of C to the user's variable. A value that does not fit into 32 bits sets `code` to an error.
  subroutine give_int64(from, to, name, code)
    integer(c_int64_t), intent(in) :: from
    integer(c_int64_t), intent(out) :: to
    character(len=*), intent(in) :: name
    integer(c_int), intent(inout) :: code
    to = from
  end subroutine give_int64

  subroutine give_int32(from, to, name, code)
    integer(c_int64_t), intent(in) :: from
    integer(c_int32_t), intent(out) :: to
    character(len=*), intent(in) :: name
    integer(c_int), intent(inout) :: code
    character(len=24) :: number
    to = int(min(max(from, -int(huge(to), c_int64_t)), int(huge(to), c_int64_t)), c_int32_t)
    if (to == from .or. code /= TENON_SUCCESS) return
    write (number, '(i0)') from
    code = fail(TENON_ERR_ARG, name, name//' is '//trim(number)// &
      ', which an integer of 32 bits cannot hold; pass variables of kind int64')
  end subroutine give_int32

  subroutine give_list_int64(from, to, name, code)
    integer(c_int64_t), intent(in) :: from(:)
    integer(c_int64_t), intent(out) :: to(:)
    character(len=*), intent(in) :: name
    integer(c_int), intent(inout) :: code
    to = from
  end subroutine give_list_int64

  subroutine give_list_int32(from, to, name, code)
    integer(c_int64_t), intent(in) :: from(:)
    integer(c_int32_t), intent(out) :: to(:)
    character(len=*), intent(in) :: name
    integer(c_int), intent(inout) :: code
    integer :: i
    do i = 1, size(from)
      call give_int32(from(i), to(i), name, code)
    end do
  end subroutine give_list_int32

  ! Raises an error with the name of the call, and returns its code. The check_* procedures do this for wrong
  ! arguments, unless `code` has an error already.
  function fail(code, call, message) result(answer)
    integer(c_int), intent(in) :: code
    character(len=*), intent(in) :: call, message
    integer(c_int) :: answer
    answer = raise_error(code, message//c_null_char, call//c_null_char, c_null_char, 0)
  end function fail

  ! For arguments in the order of C, by the subroutines that accept only this order.
  subroutine refuse_order(call, arguments, ierr)
    character(len=*), intent(in) :: call, arguments
    integer(c_int), intent(out), optional :: ierr
    call finish(fail(TENON_ERR_ARG, call, 'the arguments are in the order of C; in Fortran those that can be left '// &
      'out follow the others: '//call//'('//arguments//')'), ierr)
  end subroutine refuse_order

  subroutine check_length(code, call, name, length, wanted)
    integer(c_int), intent(inout) :: code
    character(len=*), intent(in) :: call, name
    integer, intent(in) :: length, wanted
    character(len=80) :: text
    if (code /= TENON_SUCCESS .or. length == wanted) return
    write (text, '(a, i0, a, i0)') ' has ', length, ' elements, but needs ', wanted
    code = fail(TENON_ERR_SHAPE, call, name//trim(text))
  end subroutine check_length

  ! For a number that C counts from 0: C's own message would have the number minus 1.
  subroutine check_counted(code, call, name, value)
    integer(c_int), intent(inout) :: code
    character(len=*), intent(in) :: call, name
    integer(c_int64_t), intent(in) :: value
    character(len=80) :: text
    if (code /= TENON_SUCCESS .or. value >= 1) return
    write (text, '(a, i0, a)') ' is ', value, '; it is counted from 1 in Fortran, and must be >= 1'
    code = fail(TENON_ERR_ARG, call, name//trim(text))
  end subroutine check_counted

  ! Node 0 is an error, since C has no number for it.
  subroutine check_nodes(code, call, name, list)
    integer(c_int), intent(inout) :: code
    character(len=*), intent(in) :: call, name
    integer(c_int), intent(in) :: list(:)
    character(len=120) :: text
    integer :: i
    i = findloc(list, 0, dim=1)
    if (code /= TENON_SUCCESS .or. i == 0) return
    write (text, '(a, i0, a)') '(', i, ') is 0; nodes are counted from 1 in Fortran, and inputs of the graph are -1, -2, ...'
    code = fail(TENON_ERR_ARG, call, name//trim(text))
  end subroutine check_nodes

  ! Called after the C function. If it has failed and an index in the list is below 1, adds a message with this index,
  ! the probable reason. (Checked before the call, the error would be on one rank only, and the others would wait.)
  subroutine explain_counted(code, call, name, list)
    integer(c_int), intent(in) :: code
    character(len=*), intent(in) :: call, name
    integer(c_int64_t), intent(in) :: list(:)
    character(len=80) :: text
    integer(c_int) :: answer
    integer :: i
    if (code == TENON_SUCCESS) return
    i = findloc(list < 1, .true., dim=1)
    if (i == 0) return
    write (text, '(a, i0, a, i0, a)') '(', i, ') is ', list(i), '; indices are counted from 1 in Fortran'
    answer = fail(code, call, name//trim(text))
  end subroutine explain_counted

  ! Without ierr an error ends the program, as TenonCallAbort() does; the handler has printed it.
  ! The caller's file and line are unknown, so no frame is added.
  subroutine finish(code, ierr)
    integer(c_int), intent(in) :: code
    integer(c_int), intent(out), optional :: ierr
    if (present(ierr)) then
      ierr = code
    else if (code /= TENON_SUCCESS) then
      call TenonAbort(code)
    end if
  end subroutine finish

  ! A truth value of C.
  elemental function c_bool_of(value) result(answer)
    logical, intent(in) :: value
    integer(c_int) :: answer
    answer = merge(TENON_TRUE, TENON_FALSE, value)
  end function c_bool_of

  ! The dimension in C. Dimensions 0 and below, which some calls accept, become -1 and below.
  pure function c_dimension(dimension, dimensions) result(answer)
    integer(c_int), intent(in) :: dimension, dimensions
    integer(c_int) :: answer
    answer = merge(dimensions - dimension, dimension - 1, dimension >= 1)
  end function c_dimension

  ! Nodes of a graph from 1, and -1, -2, ... for its inputs. Node 0 was rejected by check_nodes.
  pure function c_nodes(nodes) result(answer)
    integer(c_int), intent(in) :: nodes(:)
    integer(c_int) :: answer(size(nodes))
    answer = merge(nodes - 1, nodes, nodes > 0)
  end function c_nodes

  ! The text at an address of C, which ends with NUL; '' for a null pointer.
  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    if (.not. c_associated(address)) then
      text = ''
      return
    end if
    call c_f_pointer(address, characters, [length_of(address)])
    allocate (character(len=size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function text_at

  ! Converts a text with its NUL, as C returns it; an empty text after an error.
  subroutine give_text(from, code, to)
    character(kind=c_char), allocatable, intent(in) :: from(:)
    integer(c_int), intent(in) :: code
    character(len=:), allocatable, intent(out) :: to
    integer :: i
    if (code /= TENON_SUCCESS .or. .not. allocated(from)) then
      to = ''
      return
    end if
    allocate (character(len=size(from) - 1) :: to)
    do i = 1, len(to)
      to(i:i) = from(i)
    end do
  end subroutine give_text

  ! Texts for C: trimmed, with NUL. addresses() returns the addresses of such texts.
  function terminated(texts) result(answer)
    character(len=*), intent(in) :: texts(:)
    character(len=len(texts) + 1) :: answer(size(texts))
    integer :: i
    do i = 1, size(texts)
      answer(i) = trim(texts(i))//c_null_char
    end do
  end function terminated

  function addresses(texts) result(answer)
    character(len=*), intent(in), target :: texts(:)
    type(c_ptr) :: answer(size(texts))
    integer :: i
    do i = 1, size(texts)
      answer(i) = c_loc(texts(i)(1:1))
    end do
  end function addresses

  ! Query the number of entries that the lists of an object have; 0 if `code` has an error already.
  subroutine layout_dimensions(layout, code, count)
    type(c_ptr), intent(in) :: layout
    integer(c_int), intent(inout) :: code
    integer(c_int), intent(out) :: count
    count = 0
    if (code == TENON_SUCCESS) code = TenonLayoutGetDim(layout, count)
  end subroutine layout_dimensions

  subroutine tensor_dimensions(x, code, count)
    type(c_ptr), intent(in) :: x
    integer(c_int), intent(inout) :: code
    integer(c_int), intent(out) :: count
    type(c_ptr) :: layout
    integer(c_int) :: ignored
    count = 0
    layout = c_null_ptr
    if (code == TENON_SUCCESS) code = TenonDTensorGetLayout(x, layout)
    if (code == TENON_SUCCESS) code = TenonLayoutGetDim(layout, count)
    ignored = TenonLayoutDestroy(layout)
  end subroutine tensor_dimensions

  subroutine spatial_dimensions(layer, code, count)
    type(c_ptr), intent(in) :: layer
    integer(c_int), intent(inout) :: code
    integer(c_int), intent(out) :: count
    count = 0
    if (code == TENON_SUCCESS) code = TenonLayerGetSpatialDimensions(layer, count)
  end subroutine spatial_dimensions

  subroutine partition_axes(partition, code, count)
    type(c_ptr), intent(in) :: partition
    integer(c_int), intent(inout) :: code
    integer(c_int), intent(out) :: count
    count = 0
    if (code == TENON_SUCCESS) code = TenonPartitionGetAxes(partition, count)
  end subroutine partition_axes

  subroutine machine_devices(machine, code, count)
    type(c_ptr), intent(in) :: machine
    integer(c_int), intent(inout) :: code
    integer(c_int), intent(out) :: count
    integer(c_int) :: levels, links
    integer(c_int64_t) :: devices
    devices = 0
    if (code == TENON_SUCCESS) code = TenonMachineGetCounts(machine, levels, links, devices)
    count = int(devices, c_int)
  end subroutine machine_devices
end module tenon_convert
