/** What an operator who watches over security is told of people. Never an address or anything they sign in with. */
export interface PeopleSecurity {
  readonly onSignIn: (story: SignInStory) => void;
  /** Somebody was not told of a change of its account by mail. */
  readonly onNoticeDropped: (story: NoticeStory) => void;
  readonly onPeopleAltered: (story: Readonly<Record<string, string>>) => void;
}

export interface SignInStory {
  readonly event:
    | 'signed_in'
    | 'sign_in_failed'
    | 'signed_out'
    | 'stepped_up'
    | 'set_up'
    | 'registered'
    | 'registration_undone'
    | 'password_changed'
    | 'password_forgotten'
    | 'password_reset'
    | 'email_change_asked'
    | 'email_changed'
    | 'email_verified'
    | 'credentials_dropped'
    | 'authenticator_added'
    | 'authenticator_removed'
    | 'recovery_codes_made'
    | 'recovery_code_used'
    | 'passkey_added'
    | 'passkey_removed'
    | 'passkey_cloned'
    | 'identity_linked'
    | 'identity_unlinked';
  /** Undefined where nobody has the address that was tried. */
  readonly userId: string | undefined;
  readonly address: string | undefined;
}

export interface NoticeStory {
  readonly userId: string;
  readonly mailKind: string;
  readonly reason: 'queue full' | 'no address';
}
