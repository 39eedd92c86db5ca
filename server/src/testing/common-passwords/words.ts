const lines = (text: string): string[] => text.trim().split(/\s+/);

/** Words that people choose as passwords, most of them too short by themselves. */
export const COMMON_WORDS: readonly string[] = lines(`
  password passwort passwd passw0rd pass admin administrator root user guest test testing tester default master system
  login welcome letmein changeme changeit secret private access service support manager office company business
  computer internet server network database security windows microsoft google facebook apple samsung linux ubuntu
  qwerty qwertz azerty asdf asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx qwer abc abcd abcdef abcdefgh
  iloveyou iloveu loveyou lovely loveme love forever always family friends mother father mommy daddy sister brother
  sunshine princess prince angel angels baby babygirl sweetheart honey butterfly flower flowers rainbow sunflower
  monkey dragon tiger lion eagle falcon shadow panther wolf bear horse puppy kitty kitten dolphin elephant
  football baseball basketball soccer hockey tennis golf swimming liverpool arsenal chelsea manchester barcelona
  realmadrid juventus yankees cowboys lakers steelers eagles patriots packers
  superman batman spiderman ironman pokemon pikachu starwars matrix startrek naruto minecraft fortnite nintendo
  playstation gandalf harrypotter hogwarts hello hellokitty goodmorning goodbye whatever nothing something anything
  trustno1 killer hunter ranger soldier warrior ninja pirate cowboy rockstar gangster champion winner legend
  freedom america american australia canada england germany france italy spain mexico brazil india london paris berlin
  newyork chicago boston texas california florida hawaii
  january february march april june july august september october november december
  monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter
  michael jennifer jessica ashley amanda daniel matthew christopher andrew joshua robert thomas william charlie
  nicole michelle samantha elizabeth stephanie victoria alexander benjamin jonathan anthony richard george maria
  jordan taylor maggie ginger pepper cookie chocolate cheese banana orange strawberry coffee pizza vanilla
  purple yellow blue green black white silver golden diamond crystal phoenix thunder lightning mustang ferrari porsche
  mercedes corvette harley yamaha honda toyota guitar music dance metallica nirvana
  jesus christ jesuschrist god blessed heaven church
  payment payments card vault token tokens merchant finance banking money dollar account customer
  temp temporary demo sample example production staging development developer deploy
`);

/** Long enough as they are, or known from lists of what was stolen. */
export const COMMON_PHRASES: readonly string[] = lines(`
  correcthorsebatterystaple correcthorsebattery thisismypassword mypassword1234 mypasswordis password12345
  passwordpassword123 iloveyouforever iloveyousomuch iloveyoubaby iloveyou4ever iloveyoutoo iloveyou1234 letmeinplease
  letmeinletmein letmein12345 changemenow changemeplease pleasechangeme pleaseletmein donotforget idontknow123
  ihatepasswords ihatemyself123 whatsmypassword whatismypassword nopassword123 nopasswordhere iforgotmypassword
  forgotpassword forgetpassword passwordreset resetpassword newpassword1 newpassword123 newpassword1234 newpassword2
  oldpassword123 temppassword temppassword1 temppass1234 temporarypassword defaultpassword adminpassword
  administrator1 administrator123 administrator! rootpassword userpassword testpassword testpassword1
  supersecret1 supersecret123 supersecretpassword topsecret123 secretpassword mysecretpassword notapassword
  abcdefghijkl abcdefghijklm abcdefghijklmn abcdefghijklmnop abcdefghijklmnopqrstuvwxyz abc123abc123 abcd1234abcd
  1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o0p q1w2e3r4t5y6 q1w2e3r4t5y6u7i8 1qaz2wsx3edc
  1qaz2wsx3edc4rfv 1qazxsw23edc 1qazxsw2zaq1 zaq12wsxcde3 zaq1xsw2cde3 zaq1xsw2cde3vfr4 qazwsxedcrfv qazwsxedcrfvtgb
  qweasdzxc123 123qweasdzxc qweqweqweqwe qwe123qwe123 asdasdasdasd zxczxczxczxc 1234qwerasdf qwer1234asdf
  qwerasdfzxcv qwertyasdfgh qwertyasdfghzxcvbn asdfghjkl123 asdfghjkl1234 asdfghjklqwertyuiop qwertyuiop12
  qwertyuiop123 qwertyuiop1234 qwertyuiop12345 qwertyuiop123456 qwertyuiop[] qwertyuiopasdfgh qwertyuiopasdfghjkl
  qwertyuiopasdfghjklzxcvbnm qwertzuiop123 azertyuiop123 zxcvbnmasdfghjkl zxcvbnm12345 zxcvbnm123456 mnbvcxzlkjhgfdsa
  poiuytrewqlkjhgfdsa poiuytrewq123 1234567890qwerty qwerty1234567890 qwerty123456789 123456789qwe 123456789abc
  123456789asd 1234567890ab 1234567890abc 123456abcdef abcdef123456 abc123456789 a123456789012 aa1234567890
  1234567890-= 1234567890-=\\ !@#$%^&*()_+ !@#$%^&*()12 1234!@#$qwer 1234qwer!@#$ 123456!@#$%^ !qaz@wsx#edc !qaz2wsx#edc
  !qaz1qaz@wsx2wsx p@ssw0rd1234 p@ssw0rd12345 p@ssword1234 pa$$word1234 pa55word1234 passw0rd1234 pass@word123
  pass@word1234 pass1234pass word1234pass monkey123456 dragon123456 michael12345 trustno1trustno1 neverforget1
  neverforgetme nevergiveup1 nevergiveup123 alwaysandforever foreverandever foreveralone foreveryoung livelaughlove
  livelovelaugh lovelovelove loveyouforever loveisintheair godisgood123 godislove123 jesuslovesme jesusislord
  jesusismylord jesussaves123 ilovejesus123 ilovemyfamily ilovemymother ilovemyhusband ilovemywife1 ilovemydaughter
  ilovemykids1 ilovemybaby1 ilovemyself1 ilovemyself123 ilovemusic123 ilovechocolate iloveanimals mylittlepony
  hellohellohello helloworld12 helloworld123 helloworld1234 helloworld! goodmorning1 goodmorning123 welcometoall
  welcomehome1 welcomehome123 welcome12345 welcome2world maytheforcebewithyou beammeupscotty openthedoor1 opensesame123
  tobeornottobe onceuponatime happybirthday happybirthday1 merrychristmas happynewyear happynewyear2024
  unbelievable unforgettable extraordinary independence congratulations championship manchesterunited
  realmadrid123 fcbarcelona123 liverpoolfc123 liverpoolfc1 arsenalfc123 chelseafc123 spongebob123 spongebobsquarepants
  harrypotter1 harrypotter123 lordoftherings gameofthrones winteriscoming starwars1234 lukeskywalker
  darthvader123 chewbacca123 supermario123 legendofzelda finalfantasy finalfantasy7 callofduty123 worldofwarcraft
  counterstrike123 leagueoflegends assassinscreed grandtheftauto bubblegum123 butterfly123 strawberry123 chocolate123
  sunshine1234 princess1234 basketball12 basketball123 football1234 baseball1234 skateboard123 snowboarding
  cheerleader1 cheerleader123 motherfucker motherfucker1 fuckyoufuckyou fuckyou12345 biteme123456 asshole12345
  blink182blink182 metallica123 linkinpark123 slipknot1234 greenday1234 rammstein123 ironmaiden666 jonasbrothers
  mississippi1 massachusetts philadelphia sanfrancisco losangeles123 lasvegas1234 newyorkcity1 newyorkcity123
`);
